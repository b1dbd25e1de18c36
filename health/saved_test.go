package health

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// saved is what the engine gives to keep, gone through JSON as in a file.
func (w *world) saved() Saved {
	w.Helper()
	s := w.engine.Saved()
	if s == nil {
		w.Fatal("nothing to save")
	}
	text, err := json.Marshal(s)
	if err != nil {
		w.Fatal(err)
	}
	var out Saved
	if err := json.Unmarshal(text, &out); err != nil {
		w.Fatal(err)
	}
	return out
}

// restart replaces the engine by one that knows only what was saved.
func (w *world) restart(s Saved) {
	w.Helper()
	w.engine.Stop()
	w.engine = New(Options{Log: w.engine.decider.log, NewProber: w.newProber, Rand: func() float64 { return 1 }})
	w.engine.Restore(s)
	w.engine.Start()
}

// afterwards runs test in a world that was left and entered again: www/A has
// primary 1 and secondary 2, with 1 up or down as said and 2 up before.
func afterwards(t *testing.T, c probe.Check, up bool, test func(w *world, m Model)) {
	t.Helper()
	inWorld(t, func(w *world) {
		defer func() { w.engine.Stop() }()
		m := model(c, www("primary:1", "secondary:2"))
		if !up {
			w.target("1", refuses)
		}
		w.apply(m)
		w.wait(settled)
		s := w.saved()
		w.restart(s)
		test(w, m)
	})
}

// A saved up needs as many failed rounds as the rule says, and a saved down as
// many passed ones: the first does not decide alone.
func TestThresholdsAfterRestart(t *testing.T) {
	for _, c := range []struct {
		name   string
		rule   func(*probe.Check)
		up     bool
		rounds int // that turn the member
	}{
		{"up, fall 2", thresholds(2, 3), true, 2},
		{"up, fall 3", thresholds(3, 3), true, 3},
		{"up, fall 1", thresholds(1, 3), true, 1},
		{"down, rise 3", thresholds(2, 3), false, 3},
		{"down, rise 1", thresholds(2, 1), false, 1},
		{"up, 3 of 5", window(5, 3), true, 3},
		{"down, 3 of 5", window(5, 3), false, 3},
		{"up, 1 of 4", window(4, 1), true, 4},
		{"down, 1 of 4", window(4, 1), false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			afterwards(t, check(c.rule), c.up, func(w *world, m Model) {
				before, after := "1", "2"
				w.target("1", refuses)
				if !c.up {
					before, after = "2", "1"
					w.target("1", nil)
				}
				w.apply(m) // the first round
				w.wait(0)
				for range c.rounds - 1 {
					w.expect(before)
					w.wait(10 * time.Second)
				}
				w.expect(after)
			})
		})
	}
}

// A result of the other kind between starts the count anew.
func TestResetAfterRestart(t *testing.T) {
	afterwards(t, check(), true, func(w *world, m Model) {
		w.target("1", refuses)
		w.apply(m)
		w.wait(0)
		for _, do := range []act{nil, refuses} {
			w.target("1", do)
			w.wait(10 * time.Second)
		}
		w.expect("1")
		w.wait(10 * time.Second)
		w.expect("2")
	})
}

// Until the first results, status shows the states and times from before.
func TestStatusAfterRestart(t *testing.T) {
	inWorld(t, func(w *world) {
		defer func() { w.engine.Stop() }()
		m := model(check(), www("primary:1", "secondary:2", "secondary:3:+"))
		w.target("1", refuses)
		w.apply(m)
		w.wait(settled)
		before := w.group()
		w.restart(w.saved())
		for _, n := range []string{"1", "2"} {
			w.target(n, hangs)
		}
		w.wait(time.Minute)
		w.apply(m)
		w.expect("2 3")
		after := w.group()
		for _, g := range []*GroupStatus{&before, &after} {
			for _, p := range g.Pools {
				for i := range p.Members {
					p.Members[i].LatencyMS = 0
					for k := range p.Members[i].Checks {
						c := &p.Members[i].Checks[k]
						*c = CheckStatus{Name: c.Name, State: c.State}
					}
				}
			}
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Error(diff)
		}
		if n := w.logs.FilterMessage("answer changed").Len(); n != 1 {
			t.Errorf("%d changes of answers in the log, want the one before the restart", n)
		}
	})
}

// What steer is asked with before the first Apply.
func TestRestored(t *testing.T) {
	e := New(Options{})
	defer e.Stop()
	e.Restore(Saved{Groups: []SavedGroup{{Zone: "example.com.", Name: "www.example.com.", Type: "A", Previous: []string{"192.0.2.2"},
		Members: []SavedMember{{Data: "192.0.2.2", State: "up"}, {Data: "192.0.2.1", State: "down"}}}}})
	health, previous := e.Restored(www("primary:1", "secondary:2", "secondary:3"))
	if len(previous) != 1 || health[0].State != steer.Down || health[1].State != steer.Up || health[2].State != steer.Unknown {
		t.Errorf("%v %v", health, previous)
	}
}

// keep survives: what was answered while a pool was usable is answered on after
// a restart with everything down, and after one more.
func TestKeepAfterRestart(t *testing.T) {
	inWorld(t, func(w *world) {
		defer func() { w.engine.Stop() }()
		m := model(check(), www("primary:1", "primary:3", "secondary:2"))
		w.apply(m)
		w.wait(settled)
		w.set("2", "13")
		w.wait(settled)
		w.set("", "123")
		w.wait(settled)
		for range 2 {
			w.expect("2")
			w.restart(w.saved())
			w.apply(m)
			w.expect("2")
			if w.rule() != steer.RuleKeep {
				t.Errorf("rule %s", w.rule())
			}
			w.wait(settled)
		}
		// A record that has left the zone is not answered.
		w.restart(w.saved())
		w.apply(model(check(), www("primary:1", "primary:3")))
		w.expect("1 3")
	})
}

// What is known of groups and members that are not there any more is dropped;
// those that are new begin as ever.
func TestRestoreOfAnotherZone(t *testing.T) {
	afterwards(t, check(), false, func(w *world, _ Model) {
		w.target("1", hangs)
		w.target("5", refuses)
		m := model(check(), www("primary:1", "primary:5"), makeGroup(wwwAAAA, "primary:1"))
		w.apply(m)
		w.wait(0)
		if one, five := w.member("1").State, w.member("5").State; one != "down" || five != "down" {
			t.Errorf("1 %s, 5 %s", one, five)
		}
		states, previous, _ := w.engine.Live(wwwAAAA)
		if states[0].State != steer.Unknown || previous != nil {
			t.Errorf("%v %v", states, previous)
		}
		w.wait(settled)
		if got := len(w.saved().Groups[0].Members); got != 2 {
			t.Errorf("%d members saved", got)
		}
	})
}

// A check that asks something else than before keeps the member's state until
// its first result, which decides alone, as after a reload. Thresholds and
// interval are no such change.
func TestRestoreOfAnotherProbe(t *testing.T) {
	other := func(c *probe.Check) { c.TCP = &probe.TCP{Port: 80, Expect: []byte("x")} }
	for name, c := range map[string]struct {
		change func(*probe.Check)
		want   string
	}{
		"another probe": {other, "1"},
		"another rise":  {thresholds(2, 2), "2"},
	} {
		t.Run(name, func(t *testing.T) {
			afterwards(t, check(), false, func(w *world, _ Model) {
				w.target("1", passes(time.Second))
				w.apply(model(check(c.change), www("primary:1", "secondary:2")))
				w.expect("2")
				w.wait(2 * time.Second)
				w.expect(c.want)
			})
		})
	}
}

// A combination is judged by the restored states of its leaves.
func TestRestoreOfCombination(t *testing.T) {
	inWorld(t, func(w *world) {
		defer func() { w.engine.Stop() }()
		m := combined([]string{"primary:1:c", "secondary:2"}, "c 2: p1 p2 p3")
		w.ports("3")
		w.apply(m)
		w.wait(settled)
		w.expect("2")
		w.restart(w.saved())
		w.ports("123") // one round each is not enough
		w.apply(m)
		w.wait(time.Second)
		w.expect("2")
		w.wait(settled)
		w.expect("1")
	})
}

// Nothing is given before the first round of every probe is over.
func TestSavedWhenReady(t *testing.T) {
	inWorld(t, func(w *world) {
		if s := w.engine.Saved(); s != nil {
			t.Errorf("before Apply: %+v", s)
		}
		w.target("1", hangs)
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		if s := w.engine.Saved(); s != nil {
			t.Errorf("before the first round is over: %+v", s)
		}
		w.wait(5 * time.Second)
		s := w.saved()
		if len(s.Groups) != 1 || s.Groups[0].Members[0].State != "down" || s.Groups[0].Members[1].State != "up" {
			t.Errorf("%+v", s)
		}
	})
}

// Many groups are saved in pieces, whole and in order, and a result between two
// of them is not held up; after Stop it is the last state.
func TestSavedInPieces(t *testing.T) {
	const n = 10*savedAtOnce + 1
	inWorld(t, func(w *world) {
		groups := alike(n)
		w.apply(model(check(), groups...))
		w.wait(time.Second)
		s := w.saved()
		if len(s.Groups) != n {
			t.Fatalf("%d groups", len(s.Groups))
		}
		for i, g := range s.Groups {
			if g.Name != groups[i].Key.Name || len(g.Members) != 2 || g.Members[0].State != "up" {
				t.Fatalf("%d: %+v", i, g)
			}
		}
		w.engine.Stop()
		if diff := cmp.Diff(s, w.saved()); diff != "" {
			t.Errorf("after Stop: %s", diff)
		}
	})
}

// BenchmarkSaved measures how long the loop is held up by one piece of a save.
func BenchmarkSaved(b *testing.B) {
	d := newDecider(newMonitor(Options{}), zap.NewNop())
	d.apply(model(check(), alike(savedAtOnce)...), nowhere{}, func() {})
	for b.Loop() {
		for _, g := range d.groups {
			saveGroup(g)
		}
	}
}

// Changed is told of every change that Saved shows, and of nothing else.
func TestChanged(t *testing.T) {
	var told int
	o := Options{Changed: func() { told++ }}
	inWorldWith(t, o, func(w *world) {
		expect := func(want int) {
			w.Helper()
			var got int
			w.engine.inLoop(func() { got, told = told, 0 })
			if got != want {
				t.Errorf("told %d times, want %d", got, want)
			}
		}
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(0)
		w.wait(time.Second)
		expect(3) // the model and two first results
		w.wait(time.Minute)
		expect(0)
		w.set("", "1")
		w.wait(time.Minute)
		expect(1)
	})
}

// Damaged or foreign words are taken as unknown and as nobody.
func TestRestoreNonsense(t *testing.T) {
	e := New(Options{Log: zap.NewNop()})
	e.Restore(Saved{Groups: []SavedGroup{{Zone: "example.com.", Name: "www.example.com.", Type: "A", Answer: []string{"nobody"},
		Members: []SavedMember{{Data: "192.0.2.1", State: "fine"}, {Data: "192.0.2.1"}}}, {}}})
	defer e.Stop()
	health, previous := e.Restored(www("primary:1", "secondary:2"))
	if len(health) != 2 || health[0].State != steer.Unknown || previous != nil {
		t.Errorf("%v %v", health, previous)
	}
	if health, _ := e.Restored(&zone.Group{Key: wwwAAAA}); health != nil {
		t.Errorf("a group that was not saved: %v", health)
	}
}

// What is known can be saved at a stop, though a round that nothing can cancel
// still runs.
func TestSavedWithStuckRound(t *testing.T) {
	inWorld(t, func(w *world) {
		release := make(chan struct{})
		w.target("1", func(context.Context) probe.Result {
			<-release
			return probe.Result{Outcome: probe.Fault, Reason: "released"}
		})
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(11 * time.Second) // twice the timeout: ready
		go w.engine.Stop()
		synctest.Wait()
		got := make(chan *Saved, 1)
		go func() { got <- w.engine.Saved() }()
		synctest.Wait()
		select {
		case s := <-got:
			if s == nil || s.Groups[0].Members[1].State != "up" {
				w.Errorf("%+v", s)
			}
		default:
			w.Error("still waits")
		}
		close(release)
	})
}
