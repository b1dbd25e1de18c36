package health

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslbd/health/probe"
	"gslbd/zone"
)

// The first round starts at once, the second after a random part of the
// interval, and then always the whole interval after the end of the one before.
func TestRhythm(t *testing.T) {
	parts := []float64{0.25, 0.75}
	next := 0
	o := Options{Rand: func() float64 { next++; return parts[(next-1)%2] }}
	inWorldWith(t, o, func(w *world) {
		start := time.Now()
		w.target("1", passes(time.Second))
		w.apply(model(check(every(20*time.Second)), www("primary:1")))
		w.wait(2 * time.Minute)
		want := []time.Duration{0, 6 * time.Second, 27 * time.Second, 48 * time.Second, 69 * time.Second}
		for i, d := range want {
			if got := w.tries("1")[i].start.Sub(start); got != d {
				t.Errorf("round %d started after %v, want %v", i+1, got, d)
			}
		}
		if next != 1 {
			t.Errorf("%d random numbers for one probe", next)
		}
	})
}

func TestStartSpreadsTheSecondRound(t *testing.T) {
	n := 0
	o := Options{Rand: func() float64 { n++; return float64(n-1) / 100 }}
	inWorldWith(t, o, func(w *world) {
		start := time.Now()
		w.apply(manyTargets(check(), 100))
		w.wait(10 * time.Second)
		seconds := map[time.Duration]int{}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, spans := range w.spans {
			if spans[0].start != start {
				t.Fatalf("a first round started %v late", spans[0].start.Sub(start))
			}
			seconds[spans[1].start.Sub(start)]++
		}
		if len(seconds) != 100 {
			t.Errorf("100 second rounds started at %d different times", len(seconds))
		}
	})
}

// manyTargets has n groups of one member each, all with different targets.
func manyTargets(c probe.Check, n int) Model {
	var groups []*zone.Group
	for i := range n {
		key := zone.Key{Zone: "example.com.", Name: fmt.Sprintf("n%d.example.com.", i), Type: dns.TypeA}
		g := makeGroup(key, "primary:1")
		g.Members[0].Target.Addr = netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		groups = append(groups, g)
	}
	return model(c, groups...)
}

func TestInFlightLimit(t *testing.T) {
	inWorldWith(t, Options{MaxInFlight: 7}, func(w *world) {
		m := manyTargets(check(every(time.Hour)), 50)
		for _, g := range m.Groups {
			w.at(netip.AddrPortFrom(g.Members[0].Target.Addr, 80).String(), passes(time.Second))
		}
		w.apply(m)
		w.wait(500 * time.Millisecond)
		if s := w.engine.Stats(); s.InFlight != 7 || s.Probes != 50 {
			t.Errorf("%+v", s)
		}
		w.wait(10 * time.Second)
		if peak := w.peakNow(); peak != 7 {
			t.Errorf("%d at once", peak)
		}
		if s := w.engine.Stats(); s.Passed != 50 || s.InFlight != 0 {
			t.Errorf("after 8 batches of a second: %+v", s)
		}
	})
}

// At the limit the scheduler sleeps without a time to wake by. A round that ends
// wakes it for a job that is not due yet.
func TestLimitKeepsTime(t *testing.T) {
	inWorldWith(t, Options{MaxInFlight: 1, Rand: func() float64 { return 1 }}, func(w *world) {
		start := time.Now()
		w.target("1", passes(time.Second))
		w.target("2", passes(time.Second))
		w.apply(model(check(every(10*time.Second)), www("primary:1", "secondary:2")))
		w.wait(31 * time.Second)
		var got []time.Duration
		for _, n := range []string{"1", "2"} { // either may be first
			for _, s := range w.tries(n) {
				got = append(got, s.start.Sub(start)/time.Second)
			}
		}
		slices.Sort(got)
		if want := []time.Duration{0, 1, 11, 12, 22, 23}; !slices.Equal(got, want) {
			t.Errorf("rounds after %d seconds, want %d", got, want)
		}
	})
}

// Rounds that had to wait, since our side was busy, do not begin together from
// then on: each finds back to its own time, by pauses a hundredth shorter at most.
// So do those that waited for most of the interval, or longer, as when somebody
// stopped the server for a while.
func TestLateRoundsSpreadAgain(t *testing.T) {
	for _, row := range []struct {
		busy time.Duration
		late int // other rounds
	}{{30 * time.Second, 2}, {80 * time.Second, 7}, {350 * time.Second, 9}} {
		n := 0
		o := Options{MaxInFlight: 1, Rand: func() float64 { n++; return float64(n) / 10 }}
		inWorldWith(t, o, func(w *world) {
			m := manyTargets(check(every(100*time.Second), within(400*time.Second)), 10)
			w.apply(m)
			w.wait(205 * time.Second)
			busy := netip.AddrPortFrom(m.Groups[0].Members[0].Target.Addr, 80).String()
			w.at(busy, passes(row.busy))
			w.wait(100 * time.Second)
			w.at(busy, passes(0))
			w.wait(4 * time.Hour)
			w.mu.Lock()
			defer w.mu.Unlock()
			late, shortest, slots := 0, time.Hour, map[int64]int{}
			for addr, spans := range w.spans {
				for i, s := range spans[2:] { // after a whole pause
					pause := s.start.Sub(spans[i+1].end)
					if shortest = min(shortest, pause); addr != busy && pause > 100*time.Second {
						late++
					}
				}
				slots[spans[len(spans)-1].start.Unix()%100/10]++
			}
			if late < row.late || shortest != 99*time.Second {
				t.Errorf("%v: %d rounds were late, want %d; a pause of %v, want 99 s", row.busy, late, row.late, shortest)
			}
			if len(slots) < 9 { // the busy one has another time since
				t.Errorf("%v: in the end %d rounds begin in %v", row.busy, len(w.spans), slots)
			}
		})
	}
}

// A target that hangs neither delays the others nor overlaps itself.
func TestHangingTargetDelaysNoOther(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", hangs)
		w.apply(model(check(every(time.Second), within(30*time.Second)), www("primary:1", "secondary:2", "secondary:3")))
		w.wait(65 * time.Second)
		for _, n := range []string{"2", "3"} {
			if got := len(w.tries(n)); got != 66 {
				t.Errorf("%d rounds of target %s in 65 s", got, n)
			}
		}
		spans := w.tries("1")
		if len(spans) != 2 {
			t.Fatalf("%d rounds of the hanging one", len(spans))
		}
		if spans[1].start.Before(spans[0].end) {
			t.Error("two rounds of one probe overlap")
		}
	})
}

// Equal probes run once, at the smallest interval, and each user applies its own
// thresholds to the results.
func TestSharedProbe(t *testing.T) {
	inWorld(t, func(w *world) {
		fast := check(named("fast"), every(5*time.Second), thresholds(1, 1))
		slow := check(named("slow"), every(60*time.Second), thresholds(4, 2))
		m := model(fast, www("primary:1:fast", "secondary:2:fast"),
			makeGroup(slowA, "primary:1:slow", "secondary:2:slow"))
		m.Checks["slow"] = slow
		w.apply(m)
		w.wait(12 * time.Second)
		if s := w.engine.Stats(); s.Probes != 2 {
			t.Errorf("%d probes for two targets", s.Probes)
		}
		if got := len(w.tries("1")); got != 3 { // at 0, 2.5 and 7.5 s
			t.Errorf("%d rounds in 12 s", got)
		}
		w.target("1", refuses) // from 12.5 s on
		w.wait(time.Second)
		if fast, slow := w.answer(), w.table.answer(slowA); fast != "2" || slow != "1" {
			t.Errorf("after one failure: fast %q, slow %q", fast, slow)
		}
		w.wait(10 * time.Second)
		if slow := w.table.answer(slowA); slow != "1" {
			t.Errorf("after three failures: slow %q", slow)
		}
		w.wait(5 * time.Second)
		if slow := w.table.answer(slowA); slow != "2" {
			t.Errorf("after four failures: slow %q", slow)
		}
	})
}

var slowA = zone.Key{Zone: "example.com.", Name: "slow.example.com.", Type: dns.TypeA}

// What differs in the probe itself is not shared.
func TestDifferentProbesAreNotShared(t *testing.T) {
	inWorld(t, func(w *world) {
		m := model(check(), www("primary:1", "primary:2:other"), makeGroup(slowA, "primary:1:other"))
		m.Checks["other"] = check(named("other"), within(time.Second))
		w.apply(m)
		w.wait(0)
		if s := w.engine.Stats(); s.Probes != 3 {
			t.Errorf("%d probes, want 3", s.Probes)
		}
	})
}

func TestReady(t *testing.T) {
	t.Run("after the first rounds", func(t *testing.T) {
		inWorld(t, func(w *world) {
			if w.engine.Ready() {
				t.Error("ready without a model")
			}
			w.target("2", passes(3*time.Second))
			w.apply(model(check(), www("primary:1", "secondary:2")))
			w.wait(3*time.Second - 1)
			if w.engine.Ready() {
				t.Error("ready before the last first round")
			}
			w.wait(1)
			if !w.engine.Ready() || !w.engine.Status().Ready {
				t.Error("not ready after it")
			}
			w.target("3", hangs)
			w.apply(model(check(), www("primary:1", "secondary:3")))
			if !w.engine.Ready() {
				t.Error("a reload took it out of service")
			}
		})
	})
	t.Run("at twice the timeout", func(t *testing.T) {
		inWorldWith(t, Options{MaxInFlight: 1}, func(w *world) {
			w.target("1", hangs)
			w.target("2", hangs)
			w.target("3", hangs)
			w.apply(model(check(retries(5)), www("primary:1", "secondary:2", "secondary:3")))
			w.wait(10*time.Second - 1)
			if w.engine.Ready() {
				t.Error("ready before")
			}
			w.wait(1)
			if !w.engine.Ready() {
				t.Error("not ready then")
			}
		})
	})
	t.Run("without probes", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.apply(model(check(), www("primary:1:+", "secondary:2:+")))
			if !w.engine.Ready() {
				t.Error("not ready")
			}
		})
	})
}
