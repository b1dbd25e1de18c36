package examples_test

import (
	"syscall"
	"testing"
)

// TestQuickstartLeavesNothing: a closed terminal or a kill that cannot be
// caught takes the backends and gslbd along.
func TestQuickstartLeavesNothing(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} {
		p, dns, _ := quickstart(t)
		answers(t, dns, www, "A", "192.0.2.10")
		group := p.Process.Pid
		if err := p.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		<-p.ended
		eventually(t, "every process ends after "+signal.String(), func() string {
			if syscall.Kill(-group, 0) == nil {
				return "a process is left"
			}
			return ""
		})
	}
}
