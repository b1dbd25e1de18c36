package app

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

const combineText = `
checks:
  one: { type: tcp, interval: 5s, timeout: 1s, fall: 2, rise: 2 }
  two: { type: tcp, expect: nothing, interval: 20s, timeout: 200ms, fall: 3, rise: 3 }
  six: { type: tcp, source: "::1" }
  file: { type: file, path: nowhere }
  mute: { type: all, of: [ one, file ] }
  every: { type: all, of: [ one, two ] }
  some: { type: any, of: [ one, two ] }
  most: { type: at_least, n: 2, of: [ some, two, one ] }
  lame: { type: all, of: [ one, six ] }
  dead: { type: all, of: [ two, six ] }
`

func TestProbeCombination(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	cfg := configured(t, combineText, header)
	for _, row := range []struct{ check, want, parts string }{
		{"every", "fail: 1 of 2 passed, 2 needed", "one pass, two fail"},
		{"some", "pass: ", "one pass, two fail"},
		{"most", "pass: ", "one pass, two fail"},
		{"lame", "fault: 1 of 2 passed, 2 needed (1 could not tell)", "one pass, six fault"},
		{"mute", "unknown: 1 of 2 passed, 2 needed (1 could not tell)", "one pass, file unknown"},
		{"dead", "fail: 0 of 2 passed, 2 needed (1 could not tell)", "two fail, six fault"},
	} {
		r, err := Probe(t.Context(), cfg, row.check, ln.Addr().String(), "")
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, p := range r.Parts {
			parts = append(parts, p.Check+" "+p.Outcome)
		}
		if got := r.Outcome + ": " + r.Reason; got != row.want || strings.Join(parts, ", ") != row.parts {
			t.Errorf("%s: got %q, %q", row.check, got, parts)
		}
		if (r.LatencyMS > 0) != (r.Outcome == "pass") || r.Target != "127.0.0.1" || r.Steps == nil {
			t.Errorf("%s: %+v", row.check, r)
		}
	}
}

// A combination counts with all its leaves, each once.
func TestCheckCombination(t *testing.T) {
	const zone = header + "www A 127.0.0.1 ; @primary check=most\nwww A 127.0.0.2 ; @secondary check=one\n"
	r := Check(configured(t, combineText, zone), nil, false)
	if !r.OK || len(r.Groups) != 1 {
		t.Fatalf("%+v", r)
	}
	g := r.Groups[0] // two: 3 * 0.2 + 2 * 20, 2 * 20, and 20 + detect + 60
	if got := fmt.Sprintf("%g %g %g", g.DetectSeconds, g.RecoverSeconds, g.ClientSeconds); got != "40.6 40 120.6" {
		t.Errorf("times %s", got)
	}
	var got []string
	for _, target := range r.Targets {
		got = append(got, fmt.Sprintf("%s %g %v", target.Address, target.PerMinute, target.Checks))
	}
	if strings.Join(got, "; ") != "127.0.0.1:80 15 [one two]; 127.0.0.2:80 12 [one]" {
		t.Errorf("targets %q", got)
	}
}

// Readiness waits for probes, and a combination is none.
func TestAwaitedCombination(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, _ := launch(t, "checks:\n  hang: { type: tcp, expect: x, timeout: 5m }\n  c: { type: all, of: hang }\n",
		header+"www A 127.0.0.1 ; @primary check=c target="+ln.Addr().String()+"\n")
	if got := strings.Join(a.Awaited(), "; "); got != "www.example.com/A 127.0.0.1: first hang probe" {
		t.Errorf("awaits %s", got)
	}
}
