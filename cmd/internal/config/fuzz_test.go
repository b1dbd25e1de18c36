package config

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslbd/health/probe"
	"gslbd/zone"
)

// wellFormed checks what holds of every problem: a file, one line of message
// and hint, and a severity.
func wellFormed(t *testing.T, problems zone.Problems) {
	t.Helper()
	for _, p := range problems {
		if p.File == "" || p.Message == "" || p.Line < 0 || p.Severity != zone.Error && p.Severity != zone.Warning {
			t.Errorf("incomplete problem: %+v", p)
		}
		if p.Hint == "" {
			t.Errorf("no hint: %+v", p)
		}
		if strings.ContainsAny(p.Message+p.Hint, "\n\r\x00\x1b") {
			t.Errorf("control character in %+v", p)
		}
	}
}

// usable checks that what was accepted can be probed: a mistake in a check is
// to be told now and not as a fault by and by.
func usable(t *testing.T, c *Config) {
	t.Helper()
	for name, check := range c.Checks {
		if check.Combination != nil {
			continue // it has no probe of its own
		}
		check.Source = nil // of one family, perhaps
		for _, address := range []string{"192.0.2.1", "2001:db8::1"} {
			target := probe.Target{Addr: netip.MustParseAddr(address), Name: "www.example.com"}
			if _, err := probe.New(check, target, false); err != nil {
				t.Errorf("check %s was accepted and cannot be probed: %v", name, err)
			}
		}
	}
}

// FuzzLoad shows that no text makes Load panic, and that what it says is
// complete: either a configuration or an error, each with a line of the file.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/config/*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if section := adminLines(data); !bytes.Contains(data, section) {
			t.Errorf("section %q", section)
		}
		c, problems := load("gslbd.yaml", data)
		if (c == nil) != problems.Failed(false) {
			t.Errorf("config %v with problems %v", c, problems)
		}
		wellFormed(t, problems)
		if c != nil {
			usable(t, c)
		}
		lines := 1 + bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r"))
		lines += strings.Count(string(data), "\u0085") + strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029")
		for _, p := range problems {
			if p.Line > lines && p.File == "gslbd.yaml" {
				t.Errorf("line %d of %d: %v", p.Line, lines, p)
			}
		}
	})
}
