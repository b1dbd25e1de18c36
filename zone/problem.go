package zone

import (
	"fmt"
	"strings"
)

// Severity says whether a problem stops a load.
type Severity string

// Severities of a Problem.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one finding in a zone or configuration file.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line"` // 1-based; 0 = the file as a whole
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint"` // how to mend it; may be empty
}

// String gives "file:line: message", and "file: message" without a line.
// Warnings say so: "file:line: warning: message".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Severity == Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is a list of findings; as an error it is all of them, a line each.
type Problems []Problem

// Failed reports whether an error is among them; strict counts warnings too.
func (ps Problems) Failed(strict bool) bool {
	for _, p := range ps {
		if strict || p.Severity == Error {
			return true
		}
	}
	return false
}

// Error gives one line for each problem and one for each hint.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
		if p.Hint != "" {
			b.WriteString("\n  hint: ")
			b.WriteString(p.Hint)
		}
	}
	return b.String()
}
