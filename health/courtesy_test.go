package health

import (
	"testing"
	"testing/synctest"
	"time"
)

// The core is offered after every piece of work while waits are short. A long
// one is paid back twenty times before it is offered again.
func TestCourtesy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		offers, wait := 0, 200*time.Microsecond
		c := courtesy{yield: func() { offers++; <-time.After(wait) }}
		work := func(pieces int) {
			for range pieces {
				c.giveWay()
				<-time.After(100 * time.Microsecond) // the work
			}
		}
		if work(100); offers != 100 {
			t.Errorf("offered %d times of 100 while waits were short", offers)
		}
		offers, wait = 0, 4*time.Millisecond
		began := time.Now()
		work(10_000)
		if took := time.Since(began); took > 1050*time.Millisecond+wait || offers < 12 {
			t.Errorf("a second of work took %v, with %d offers", took, offers)
		}
		wait = 0
		<-time.After(reserve * 4 * time.Millisecond)
		offers = 0
		if work(10); offers != 10 {
			t.Errorf("offered %d times of 10 after that", offers)
		}
	})
}
