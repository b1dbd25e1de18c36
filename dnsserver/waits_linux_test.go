package dnsserver

import (
	"sync/atomic"
	"testing"
)

// TestWaitsYield: after a second of so many waits, how many of as many waits in the next one pass the scheduler.
func TestWaitsYield(t *testing.T) {
	for _, c := range []struct{ waits, yields int }{
		{0, 0}, {1, 0}, {150, 0},
		{151, 151}, {256, 256}, {511, 511}, {512, 256}, {1000, 333}, {5000, 263}, {10_000, 256}, {100_000, 256},
	} {
		var clock atomic.Uint32
		w := waits{clock: &clock}
		count := func() (yields int) {
			clock.Add(1)
			for range c.waits {
				if w.yield() {
					yields++
				}
			}
			return yields
		}
		if got := count(); got != 0 {
			t.Errorf("%d waits: %d yields in the first second, want 0", c.waits, got)
		}
		if got := count(); got != c.yields {
			t.Errorf("%d waits: %d yields in the second, want %d", c.waits, got, c.yields)
		}
	}
}

// TestWaitsYieldAgain: a second with few waits ends the yields of the next one, one with many begins them.
func TestWaitsYieldAgain(t *testing.T) {
	var clock atomic.Uint32
	w := waits{clock: &clock}
	for i, c := range []struct{ waits, yields int }{{1000, 0}, {100, 33}, {100, 0}, {1000, 0}, {1000, 333}} {
		clock.Add(1)
		yields := 0
		for range c.waits {
			if w.yield() {
				yields++
			}
		}
		if yields != c.yields {
			t.Errorf("second %d, %d waits: %d yields, want %d", i, c.waits, yields, c.yields)
		}
	}
}
