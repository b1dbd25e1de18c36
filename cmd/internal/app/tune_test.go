package app

import (
	"runtime"
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
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	b := ballast()
	runtime.GC()
	before := collections()
	size := 1 << 10
	for range ballastSize / size {
		runtime.KeepAlive(make([]byte, size)) // of a size that is known at run time alone: on the heap
	}
	if n := collections() - before; n > 0 {
		t.Errorf("%d collections for %d bytes of garbage", n, ballastSize)
	}
	runtime.KeepAlive(b)
}

func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}
