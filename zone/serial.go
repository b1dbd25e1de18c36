package zone

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Serial gives the SOA serial of a zone file, without checking the rest of it.
// Reading stops at the first SOA record. The error names the file.
func Serial(file string) (uint32, error) {
	l := &loader{zone: ".", dir: filepath.Dir(file), files: []string{file}, serialOnly: true, rest: func() {}}
	defer l.close()
	l.top(".")
	switch {
	case l.done:
		return l.serial, nil
	case len(l.report.errors) > 0:
		p := l.report.errors[0]
		return 0, fmt.Errorf("finding the SOA serial: %w", errors.New(p.String()))
	}
	return 0, fmt.Errorf("finding the SOA serial: %s: no SOA record", file)
}
