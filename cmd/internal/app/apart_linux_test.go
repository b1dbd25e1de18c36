package app

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A process that yields has idle threads only, those that come later included.
func TestYieldProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), beLoader+"=policies")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(out))
	if len(words) < 2 || strings.Count(string(out), "5") != len(words) { // sched(7)
		t.Errorf("policies %q, want all 5, which is SCHED_IDLE", words)
	}
}
