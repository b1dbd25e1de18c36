package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of states that does not tell is neither pass, fail nor fault; a
// command tells its steps.
func TestProbeLocal(t *testing.T) {
	states := filepath.Join(t.TempDir(), "states")
	if err := os.WriteFile(states, []byte("127.0.0.1 up\n127.0.0.2 down\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := configured(t, "checks:\n  kept: { type: file, path: "+states+" }\n"+
		"  run: { type: exec, command: [ sh, -c, 'echo \"sees $1\"; exit 3', sh, \"{address}\" ] }\n", header)
	for _, tt := range []struct{ check, address, target, outcome, reason, steps string }{
		{"kept", "127.0.0.1:80", "127.0.0.1", "pass", "", "file line"},
		{"kept", "127.0.0.2", "127.0.0.2", "fail", states + " says down", "file line"},
		{"kept", "127.0.0.3", "127.0.0.3", "unknown", states + " has no line for 127.0.0.3", "file"},
		{"run", "127.0.0.1", "127.0.0.1", "fail", "exit status 3: sees 127.0.0.1", "start end output"},
		{"run", "[::1]:80", "[::1]:80", "fail", "exit status 3: sees ::1", "start end output"},
	} {
		r, err := Probe(t.Context(), cfg, tt.check, tt.address, "")
		var steps []string
		for _, s := range r.Steps {
			steps = append(steps, s.What)
		}
		if err != nil || r.Target != tt.target || r.Outcome != tt.outcome || r.Reason != tt.reason || strings.Join(steps, " ") != tt.steps {
			t.Errorf("%s %s: got %+v, %v", tt.check, tt.address, r, err)
		}
	}
}
