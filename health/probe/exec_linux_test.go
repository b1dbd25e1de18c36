package probe

import (
	"testing"
	"time"
)

// What is left behind dies as the command ends, and its hold on the output adds
// nothing to the time that the command ran.
func TestExecLatency(t *testing.T) {
	c := execCheck(long, shellScript(t, "sleep 60 & exit 0"))
	fastest := time.Hour
	for range 5 { // another load on the machine slows some
		got := run(t, c, Target{Addr: local})
		want(t, got, Pass, "")
		fastest = min(fastest, got.Latency)
	}
	if fastest >= linger {
		t.Errorf("%s", fastest)
	}
}
