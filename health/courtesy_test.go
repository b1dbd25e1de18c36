package health

import (
	"testing"
	"testing/synctest"
	"time"
)

// The core is offered after every piece of work, also when somebody now and then
// takes it for long. Who takes it each time gets a third.
func TestCourtesy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		offers, wait := 0, 30*time.Microsecond
		c := Courtesy{yield: func() { offers++; <-time.After(wait) }}
		work := func(pieces int) (took time.Duration) {
			began := time.Now()
			for range pieces {
				c.GiveWay()
				<-time.After(100 * time.Microsecond) // the work
			}
			return time.Since(began)
		}
		for _, row := range []struct {
			wait           time.Duration
			least, longest time.Duration
			offers         int
		}{
			{30 * time.Microsecond, 1290 * time.Millisecond, 1310 * time.Millisecond, 10_000},
			{4 * time.Millisecond, 1450 * time.Millisecond, 1590 * time.Millisecond, 110},
			{200 * time.Microsecond, 1450 * time.Millisecond, 1590 * time.Millisecond, 2300},
			{0, time.Second, time.Second, 8000},
		} {
			offers, wait = 0, row.wait
			if took := work(10_000); took < row.least || took > row.longest || offers < row.offers {
				t.Errorf("waits of %v: a second of work took %v, with %d offers; want at most %v, and %d offers", row.wait, took, offers, row.longest, row.offers)
			}
		}
		wait = time.Hour // the machine slept
		c.GiveWay()
		offers, wait = 0, 0
		if work(10_000); offers < 6000 {
			t.Errorf("%d offers of 10,000 after that", offers)
		}
	})
}

// Work that has no right to the core offers it always, whoever takes it.
func TestCourtesyUnbounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		offers := 0
		c := Courtesy{Unbounded: true, yield: func() { offers++; <-time.After(4 * time.Millisecond) }}
		for range 1000 {
			c.GiveWay()
		}
		if offers != 1000 {
			t.Errorf("%d offers, want 1000", offers)
		}
	})
}
