package health

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// A failure before a reload and one after it are two in a row.
func TestApplyKeepsCounters(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2"))) // rounds at 0, 5, 15 s
		w.wait(time.Second)
		w.target("1", refuses)
		w.wait(5 * time.Second)
		w.expect("1")
		w.apply(model(check(), www("primary:1", "secondary:2", "secondary:3")))
		w.expect("1")
		w.wait(10 * time.Second)
		w.expect("2 3")
		if spans := w.tries("1"); len(spans) != 3 {
			t.Errorf("%d rounds: the schedule did not stay", len(spans))
		}
	})
}

// States, times and the answer of what did not change survive.
func TestApplyKeepsStates(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.set("2", "1")
		w.wait(settled)
		before, member := w.group(), w.member("1")
		w.wait(time.Minute)
		w.apply(model(check(), www("secondary:2", "primary:1")))
		after, again := w.group(), w.member("1")
		if after.Since != before.Since || after.Pool != "secondary" {
			t.Errorf("group: %+v, before %+v", after, before)
		}
		if again.Since != member.Since || again.State != "down" || again.Checks[0].Consecutive <= member.Checks[0].Consecutive {
			t.Errorf("member: %+v, before %+v", again, member)
		}
	})
}

// Records that merely stand in another order are no other answer.
func TestApplyReordered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "primary:2", "secondary:3")))
		w.wait(settled)
		before := w.group()
		w.apply(model(check(), www("primary:2", "secondary:3", "primary:1")))
		w.expect("2 1")
		if after := w.group(); after.Since != before.Since {
			t.Errorf("since %v, before %v", after.Since, before.Since)
		}
		w.wait(time.Second)
		if n := w.logs.FilterMessage("answer changed").Len() + w.logs.FilterMessage("answer kept").Len(); n != 0 {
			t.Errorf("%d lines on an answer that stayed", n)
		}
	})
}

// A check that a reload renamed is the same probe; the log tells its new name.
func TestApplyRenamedCheck(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1:web")))
		w.wait(settled)
		tries := len(w.tries("1"))
		w.apply(model(check(named("site")), www("primary:1:site")))
		w.target("1", lacksPermission)
		w.wait(10 * time.Second)
		if n := len(w.tries("1")); n != tries+1 {
			t.Errorf("%d rounds, want %d", n, tries+1)
		}
		if got := w.line("probe fault")["check"]; got != "site" {
			t.Errorf("the fault is of check %v", got)
		}
	})
}

// The answer that keep holds on to loses what leaves the zone.
func TestRecordLeavesTheZone(t *testing.T) {
	inWorld(t, func(w *world) {
		p := steer.Failover()
		p.MinHealthy.Count = 2 // so that both primaries are in the last good answer
		apply := func(words ...string) {
			m := model(check(), www(words...))
			m.Policies["failover"] = p
			w.apply(m)
		}
		w.set("12", "34")
		apply("primary:1", "primary:2", "secondary:3")
		w.wait(settled)
		w.set("", "12")
		w.wait(settled)
		w.expect("1 2")
		apply("primary:2", "secondary:3")
		w.expect("2")
		apply("primary:4", "secondary:3")
		w.wait(settled)
		w.expect("4") // nothing left: the first pool
	})
}

func TestApplyStartsNewAndCancelsRemovedProbes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", hangs)
		w.apply(model(check(within(time.Minute)), www("primary:1", "secondary:2")))
		w.wait(7 * time.Second)
		changed := time.Now()
		w.apply(model(check(within(time.Minute)), www("primary:3", "secondary:2")))
		w.wait(0)
		if spans := w.tries("1"); len(spans) != 1 || spans[0].end != changed {
			t.Errorf("removed probe: %v", spans)
		}
		if spans := w.tries("3"); len(spans) != 1 || spans[0].start != changed {
			t.Errorf("new probe: %v", spans)
		}
		w.wait(time.Minute)
		if n := len(w.tries("1")); n != 1 {
			t.Errorf("%d rounds of a removed probe", n)
		}
		if s := w.engine.Stats(); s.Probes != 2 {
			t.Errorf("%+v", s)
		}
	})
}

func TestApplyChangesInterval(t *testing.T) {
	for _, c := range []struct {
		name           string
		before, after  time.Duration
		apply, started time.Duration // from the end of the last round
	}{
		{"shorter, not yet due", 60 * time.Second, 20 * time.Second, 5 * time.Second, 20 * time.Second},
		{"shorter, overdue by it", 60 * time.Second, 20 * time.Second, 30 * time.Second, 30 * time.Second},
		{"longer", 20 * time.Second, 60 * time.Second, 10 * time.Second, 60 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.apply(model(check(every(c.before)), www("primary:1")))
				w.wait(c.before / 2) // the second round
				last := w.tries("1")[1].end
				w.wait(c.apply)
				w.apply(model(check(every(c.after)), www("primary:1")))
				w.wait(5 * time.Minute)
				spans := w.tries("1")
				if got := spans[2].start.Sub(last); got != c.started {
					t.Errorf("third round after %v, want %v", got, c.started)
				}
				if got := spans[3].start.Sub(spans[2].end); got != c.after {
					t.Errorf("fourth round after %v, want %v", got, c.after)
				}
			})
		})
	}
}

// A reload reads the files of checks again: the next round has a new prober.
func TestApplyRenewsProbers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1")))
		w.wait(time.Minute)
		w.apply(model(check(), www("primary:1")))
		w.wait(time.Minute)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.made != 2 {
			t.Errorf("%d probers made", w.made)
		}
	})
}

// Changed thresholds act on the same counters; the probe goes on.
func TestApplyChangesThresholds(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(thresholds(9, 1)), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.target("1", refuses)
		w.wait(20 * time.Second) // failures at 5 and 15 s
		w.expect("1")
		w.apply(model(check(thresholds(3, 1)), www("primary:1", "secondary:2")))
		w.expect("1")
		w.wait(5 * time.Second)
		w.expect("2")
	})
}

// With another probe a member keeps its state until the first result of that,
// which decides alone: a reload does not bring a dead member back.
func TestApplyChangesProbe(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set("2", "1")
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(settled)
		since := w.member("1").Since
		w.target("1", hangs)
		w.apply(model(check(within(4*time.Second)), www("primary:1", "secondary:2")))
		w.expect("2")
		if m := w.member("1"); m.State != "down" || m.Since != since || m.Checks[0].State != "unknown" {
			t.Errorf("%+v", m)
		}
		w.apply(model(check(within(3*time.Second)), www("primary:1", "secondary:2")))
		w.target("1", nil)
		w.apply(model(check(within(2*time.Second)), www("primary:1", "secondary:2")))
		w.expect("1")
	})
}

// A check that is added to a member which is down must pass, too, before it is up.
func TestApplyAddsCheck(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set("2", "1")
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(settled)
		m := model(check(), www("primary:1:web+alt", "secondary:2"))
		m.Checks["alt"] = check(named("alt"), func(c *probe.Check) { c.TCP = &probe.TCP{Port: 81} })
		w.at("192.0.2.1:81", lacksPermission)
		w.apply(m)
		w.set("12", "")
		w.wait(settled)
		w.expect("2")
		w.at("192.0.2.1:81", nil)
		w.wait(settled)
		w.expect("1")
	})
}

// A member that joins a probe with a result has its state at once.
func TestNewMemberOfAKnownProbe(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set("2", "1")
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.apply(model(check(), www("primary:1", "secondary:2"), makeGroup(slowA, "primary:1", "secondary:2")))
		if got := w.table.answer(slowA); got != "2" {
			t.Errorf("answered %q", got)
		}
		if n := len(w.tries("1")); n != 1 {
			t.Errorf("%d rounds", n)
		}
	})
}

// Every group is published to the new table before it is in use, and nothing
// but that to either.
func TestApplyPublishesEveryGroupBeforeTheSwap(t *testing.T) {
	inWorld(t, func(w *world) {
		m := manyTargets(check(), 20)
		old := w.apply(m)
		w.wait(time.Minute)
		published := old.count()
		next, atSwap := newTable(m), -1
		w.engine.Apply(m, next, func() { atSwap = next.count() })
		if atSwap != 20 || next.count() != 20 || old.count() != published {
			t.Errorf("%d at the swap, %d later, %d more to the old table", atSwap, next.count(), old.count()-published)
		}
	})
}

// Results that come in while models are replaced are lost neither in the old
// table nor between the two: the table in use always says what the states say.
func TestNoFlipBetweenTables(t *testing.T) {
	inWorld(t, func(w *world) {
		m := manyTargets(check(every(100*time.Millisecond), thresholds(1, 1)), 50)
		for _, g := range m.Groups {
			second := g.Members[0]
			second.Data, second.ID, second.Pool, second.Checks = "192.0.2.2", "2", "secondary", nil
			g.Members = append(g.Members, second)
			flip := 0
			w.at(g.Members[0].Target.Addr.String()+":80", func(ctx context.Context) probe.Result {
				if flip++; flip%2 == 0 {
					return refuses(ctx)
				}
				return passes(0)(ctx)
			})
		}
		w.apply(m)
		for range 40 {
			w.wait(37 * time.Millisecond)
			go w.engine.Status()
			w.apply(m)
			synctest.Wait()
			for _, g := range m.Groups {
				health, previous, ok := w.engine.Live(g.Key)
				p := steer.Failover()
				want := steer.Choose(g, &p, health, previous)
				if got, _ := w.table.selection(g.Key); !ok || !same(got, want) {
					t.Fatalf("%v: table has %+v, states say %+v", g.Key, got, want)
				}
			}
		}
	})
}

// A removed group is gone from status and Live; a fresh one of that name starts
// anew.
func TestRemovedGroup(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set("2", "1")
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.apply(model(check()))
		if _, _, ok := w.engine.Live(wwwA); ok || len(w.engine.Status().Groups) != 0 {
			t.Error("still there")
		}
		w.target("1", hangs)
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.expect("1")
	})
}

// What a model lacks does not stop it: an unknown policy is the built-in one, an
// unknown check leaves its member unknown.
func TestModelWithGaps(t *testing.T) {
	inWorld(t, func(w *world) {
		m := model(check(), www("primary:1:nope", "secondary:2"))
		m.Policies = map[string]steer.Policy{}
		w.apply(m)
		w.wait(time.Second)
		w.expect("1")
		if got := w.member("1"); got.State != "unknown" || got.Checks[0].Error != "the check is not defined" {
			t.Errorf("%+v", got)
		}
		w.apply(m)
		w.apply(Model{Groups: []*zone.Group{}})
	})
}

func TestAfterStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", hangs)
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.engine.Stop()
		w.engine.Apply(model(check(), www("primary:3")), newTable(Model{}), func() { t.Error("swapped") })
		if s := w.engine.Status(); len(s.Groups) != 0 || w.engine.Ready() {
			t.Errorf("%+v", s)
		}
		if n := w.logs.FilterMessage("probe fault").Len(); n != 0 {
			t.Errorf("%d faults for cancelled rounds", n)
		}
	})
}
