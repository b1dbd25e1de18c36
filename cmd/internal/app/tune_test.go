package app

import (
	"runtime"
	"strings"
	"testing"
)

// One thread more than workers, unless the operator has said how many.
func TestSpareThread(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	t.Setenv("GOMAXPROCS", "2")
	if spareThread(); runtime.GOMAXPROCS(0) != before {
		t.Errorf("%d threads though GOMAXPROCS is set, %d before", runtime.GOMAXPROCS(0), before)
	}
	t.Setenv("GOMAXPROCS", "")
	if spareThread(); runtime.GOMAXPROCS(0) != before+1 {
		t.Errorf("%d threads, want %d", runtime.GOMAXPROCS(0), before+1)
	}
}

// Garbage as of some seconds of failovers is no reason to collect it, unless the
// operator has said what is.
func TestBallast(t *testing.T) {
	for _, set := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Run(set, func(t *testing.T) {
			t.Setenv(set, "100")
			if b := ballast(); b != nil {
				t.Errorf("%d bytes", len(b))
			}
		})
	}
	unsetCollector(t)
	b := ballast()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const garbage, size = ballastSize / 2, 1 << 10
	for range garbage / size {
		_ = strings.Repeat("x", size)
	}
	runtime.ReadMemStats(&after)
	if n, left := after.NumGC-before.NumGC, after.TotalAlloc-before.TotalAlloc; n > 0 || left < garbage {
		t.Errorf("%d collections for %d bytes of garbage", n, left)
	}
	runtime.KeepAlive(b)
}

// unsetCollector takes back what the operator has set.
func unsetCollector(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
}
