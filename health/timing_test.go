package health

import (
	"testing"
	"time"

	"gslbd/health/probe"
)

// The formulas that two hosted services publish: with timeout t, interval i and
// threshold n a member is declared down n·t + (n−1)·i after the start of its
// first failing probe, and up n·r + (n−1)·i after that of its first passing one.
func TestDeclaredDownAndUp(t *testing.T) {
	const r = time.Second
	for _, c := range []struct {
		name     string
		check    probe.Check
		down, up time.Duration
	}{
		{"timeout 5 s, interval 30 s, thresholds 3", check(within(5*time.Second), every(30*time.Second), thresholds(3, 3)), 75 * time.Second, 63 * time.Second},
		{"timeout 3 s, interval 2 s, thresholds 3", check(within(3*time.Second), every(2*time.Second), thresholds(3, 3)), 13 * time.Second, 7 * time.Second},
		{"thresholds 1", check(within(5*time.Second), every(30*time.Second), thresholds(1, 1)), 5 * time.Second, 1 * time.Second},
		{"fall 2, rise 3", check(within(5*time.Second), every(10*time.Second), thresholds(2, 3)), 20 * time.Second, 23 * time.Second},
		{"two retries", check(within(2*time.Second), every(10*time.Second), thresholds(2, 2), retries(2)), 22 * time.Second, 12 * time.Second},
		{"3 of the last 5", check(within(5*time.Second), every(10*time.Second), window(5, 3)), 35 * time.Second, 23 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.target("1", passes(r))
				w.apply(model(c.check, www("primary:1", "secondary:2")))
				w.wait(10 * (r + c.check.Interval)) // past the second round, the window full
				w.expect("1")

				started := w.turn("1", hangs)
				w.switchesTo("2", started.Add(c.down))
				started = w.turn("1", passes(r))
				w.switchesTo("1", started.Add(c.up))
				if c.down != c.check.Detect() || c.up != c.check.Recover()+time.Duration(rounds(c.check))*r {
					t.Errorf("Detect %v, Recover %v", c.check.Detect(), c.check.Recover())
				}
			})
		})
	}
}

func retries(n int) func(*probe.Check) { return func(c *probe.Check) { c.Retries = n } }

func window(size, required int) func(*probe.Check) {
	return func(c *probe.Check) { c.Window = &probe.Window{Size: size, Required: required} }
}

// rounds is how many passing rounds bring a member up.
func rounds(c probe.Check) int {
	if c.Window != nil {
		return c.Window.Required
	}
	return c.Rise
}

// turn makes the target act anew from the start of its next round, and gives
// the time of that start.
func (w *world) turn(n string, do act) time.Time {
	w.Helper()
	for len(w.tries(n)) == 0 || w.flyingNow() > 0 {
		w.wait(100 * time.Millisecond)
	}
	w.target(n, do)
	next := w.nextProbe(n)
	w.wait(time.Until(next))
	return next
}

func (w *world) flyingNow() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flying
}

// nextProbe is when the status says that the member is probed next.
func (w *world) nextProbe(n string) time.Time {
	w.Helper()
	return w.member(n).Checks[0].NextProbe
}

// switchesTo demands that the answer changes exactly at the given time.
func (w *world) switchesTo(want string, at time.Time) {
	w.Helper()
	before := w.answer()
	w.wait(time.Until(at) - 1)
	w.expect(before)
	w.wait(1)
	w.expect(want)
}

// A failing round takes all its tries, each its whole timeout, without a pause.
func TestRetriesAreImmediate(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", hangs)
		w.apply(model(check(retries(3), within(2*time.Second), every(7*time.Second)), www("primary:1", "secondary:2")))
		w.wait(20 * time.Second)
		tries := w.tries("1")
		if len(tries) < 4 {
			t.Fatalf("%d tries", len(tries))
		}
		for i := 1; i < 4; i++ {
			if tries[i].start != tries[i-1].end {
				t.Errorf("try %d starts %v after the one before", i, tries[i].start.Sub(tries[i-1].end))
			}
		}
		if took := tries[3].end.Sub(tries[0].start); took != 8*time.Second {
			t.Errorf("the round took %v", took)
		}
	})
}

// A round passes as soon as one of its tries does.
func TestRetryThatPasses(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", hangs)
		w.apply(model(check(retries(1), within(2*time.Second), thresholds(1, 1)), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.target("1", passes(time.Second))
		w.wait(5 * time.Second)
		w.expect("1")
		if m := w.member("1"); m.State != "up" || m.Checks[0].Error != "" {
			t.Errorf("%+v", m)
		}
	})
}
