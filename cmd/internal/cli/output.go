package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gslbd/cmd/internal/app"
)

// results is standard output. It remembers the first error, so that results
// which nobody could read are not taken for success.
type results struct {
	io.Writer
	err error
}

func (r *results) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// printJSON writes the one document of --json.
func (s *shell) printJSON(doc any) error {
	enc := json.NewEncoder(s.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// style is an SGR parameter (ECMA-48 §8.3.117); "" is plain.
type style string

const (
	plain  style = ""
	bold   style = "1"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// styleOf gives the colour of a state's word.
func styleOf(state string) style {
	switch state {
	case "healthy", "up", "pass", "over", "done":
		return green
	case "degraded", "unknown":
		return yellow
	case "critical", "down", "fail", "fault", "begun", "refused":
		return red
	}
	return plain
}

// coloured reports whether standard output takes colours: a terminal that is
// not dumb, and no NO_COLOR (no-color.org: any value but the empty one).
func (s *shell) coloured() bool {
	return s.getenv("NO_COLOR") == "" && s.getenv("TERM") != "dumb" && app.IsTerminal(s.output())
}

// output is standard output itself.
func (s *shell) output() io.Writer {
	if r, ok := s.stdout.(*results); ok {
		return r.Writer
	}
	return s.stdout
}

func (s *shell) getenv(key string) string {
	for i := len(s.env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(s.env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// cell is one field of a table.
type cell struct {
	text  string
	style style
}

// table is aligned text.
type table struct {
	rows   [][]cell
	widths []int // of the columns, at least
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// head adds a row of column names.
func (t *table) head(names ...string) {
	row := make([]cell, len(names))
	for i, n := range names {
		row[i] = cell{n, bold}
	}
	t.add(row...)
}

// row adds a row without styles.
func (t *table) row(texts ...string) {
	row := make([]cell, len(texts))
	for i, text := range texts {
		row[i].text = text
	}
	t.add(row...)
}

// write prints the rows; columns stand two blanks apart, and lines do not end
// in blanks.
func (t *table) write(w io.Writer, coloured bool) {
	widths := slices.Clone(t.widths)
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		gap := 0
		for i, c := range row {
			if c.text != "" {
				line.WriteString(strings.Repeat(" ", gap))
				line.WriteString(c.painted(coloured))
				gap = 0
			}
			gap += widths[i] - utf8.RuneCountInString(c.text) + 2
		}
		fmt.Fprintln(w, line.String())
	}
}

func (c cell) painted(coloured bool) string {
	if !coloured || c.style == plain {
		return c.text
	}
	return "\x1b[" + string(c.style) + "m" + c.text + "\x1b[0m"
}

// short writes a duration with the precision that a reader needs.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return d.Truncate(100 * time.Millisecond).String()
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// seconds writes the seconds of a report, for people.
func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
