package health

import (
	"context"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// set makes the targets named in up pass and those in down refuse.
func (w *world) set(up, down string) {
	for _, n := range up {
		w.target(string(n), nil)
	}
	for _, n := range down {
		w.target(string(n), refuses)
	}
}

// long enough for any change of state of the check in use
const settled = 45 * time.Second

// Every row of the truth table, from probes to answer and back. One and two are
// primary, three and four secondary.
func TestTruthTable(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "primary:2", "secondary:3", "secondary:4")))
		for _, row := range []struct{ up, down, want string }{
			{"1234", "", "1 2"}, // up / up
			{"12", "34", "1 2"}, // up / down
			{"1", "234", "1"},   // partly up / down
			{"134", "2", "1"},   // partly up / up
			{"34", "12", "3 4"}, // down / up
			{"4", "123", "4"},   // down / partly up
			{"", "1234", "4"},   // down / down: no switch
			{"34", "12", "3 4"}, // secondary back
			{"1234", "", "1 2"}, // primary back
			{"2", "134", "2"},   // partly up / down
			{"", "1234", "2"},   // down / down: no switch
			{"3", "124", "3"},   // one secondary back
			{"", "1234", "3"},   // and gone again: no switch
			{"1", "234", "1"},   // one primary back
			{"", "1234", "1"},   // down / down: no switch
			{"12", "34", "1 2"}, // back
		} {
			w.set(row.up, row.down)
			w.wait(settled)
			if got := w.answer(); got != row.want {
				t.Fatalf("up %q, down %q: answered %q, want %q (%s)", row.up, row.down, got, row.want, w.group().Reason)
			}
		}
	})
}

// All down while members go down one by one: the last ones standing are kept,
// not the whole pool.
func TestKeepOfAPartlyDownPool(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "primary:2", "secondary:3")))
		w.set("123", "")
		w.wait(settled)
		w.set("", "13")
		w.wait(settled)
		w.expect("2")
		w.set("", "2")
		w.wait(settled)
		w.expect("2")
		if g := w.group(); g.State != "critical" || g.Pool != "primary" || w.rule() != steer.RuleKeep {
			t.Errorf("%+v", g)
		}
	})
}

// With everything down from the start there is nothing to keep: the first pool,
// whichever first result comes first.
func TestColdStartWithEverythingDown(t *testing.T) {
	for _, delays := range [][]time.Duration{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {1, 1, 1}} {
		inWorld(t, func(w *world) {
			for i, n := range []string{"1", "2", "3"} {
				w.target(n, failsAfter(delays[i]*time.Second))
			}
			w.apply(model(check(), www("primary:1", "primary:2", "secondary:3")))
			w.wait(settled)
			w.expect("1 2")
			if rule := w.rule(); rule != steer.RuleCold {
				t.Errorf("delays %v: rule %s", delays, rule)
			}
		})
	}
}

func failsAfter(d time.Duration) act {
	return func(ctx context.Context) probe.Result {
		if d > 0 {
			<-time.After(d)
		}
		return refuses(ctx)
	}
}

// Before the first result everything is taken as up.
func TestOptimisticStart(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, n := range []string{"1", "2", "3"} {
			w.target(n, failsAfter(2*time.Second))
		}
		w.apply(model(check(), www("primary:1", "primary:2", "secondary:3")))
		w.wait(time.Second)
		w.expect("1 2")
		if g := w.group(); g.Pools[0].State != "unknown" || g.Pools[0].Members[0].State != "unknown" {
			t.Errorf("%+v", g)
		}
	})
}

// The first round decides alone, also against a member.
func TestFirstRoundDecidesAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set("2", "1")
		w.apply(model(check(thresholds(9, 9)), www("primary:1", "secondary:2")))
		w.wait(0)
		w.expect("2")
	})
}

var wwwAAAA = zone.Key{Zone: "example.com.", Name: "www.example.com.", Type: dns.TypeAAAA}

// A and AAAA of one name are groups of their own.
func TestAAndAAAAApart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2"), makeGroup(wwwAAAA, "primary:3", "secondary:4")))
		w.set("234", "1")
		w.wait(settled)
		if a, aaaa := w.answer(), w.table.answer(wwwAAAA); a != "2" || aaaa != "3" {
			t.Errorf("A %q, AAAA %q", a, aaaa)
		}
		w.set("14", "23")
		w.wait(settled)
		if a, aaaa := w.answer(), w.table.answer(wwwAAAA); a != "1" || aaaa != "4" {
			t.Errorf("A %q, AAAA %q", a, aaaa)
		}
	})
}

// The options of the policy, each through the whole engine with all pools down.
func TestAllDownOptions(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*steer.Policy)
		extra  []string
		want   string
	}{
		{"keep", func(*steer.Policy) {}, nil, "1"},
		{"fallback", func(*steer.Policy) {}, []string{"fallback:9"}, "9"},
		{"all", func(p *steer.Policy) { p.AllDown = steer.AllMembers }, nil, "1 2 3"},
		{"primary", func(p *steer.Policy) { p.AllDown = steer.Primary }, nil, "1 2"},
		{"nodata", func(p *steer.Policy) { p.AllDown = steer.NoData }, nil, "nodata"},
		{"servfail", func(p *steer.Policy) { p.AllDown = steer.ServFail }, nil, "servfail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := steer.Failover()
				c.change(&p)
				m := model(check(), www(append([]string{"primary:1", "primary:2", "secondary:3"}, c.extra...)...))
				m.Policies["failover"] = p
				w.apply(m)
				w.set("1", "239")
				w.wait(settled)
				w.expect("1")
				w.set("", "1239")
				w.wait(settled)
				w.expect(c.want)
				w.set("1", "239")
				w.wait(settled)
				w.expect("1")
			})
		})
	}
}

// A fallback answer is no good answer to keep: once the group has no fallback
// member any more, the answer from before returns.
func TestFallbackIsNotKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2", "fallback:9:+")))
		w.set("2", "1")
		w.wait(settled)
		w.set("", "12")
		w.wait(settled)
		w.expect("9")
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.expect("2")
	})
}

func TestMinHealthyAndUnknownDown(t *testing.T) {
	inWorld(t, func(w *world) {
		m := model(check(), www("primary:1", "primary:2", "secondary:3"))
		p := steer.Failover()
		p.MinHealthy, p.UnknownAs = steer.Quorum{Percent: 100}, steer.Down
		m.Policies["failover"] = p
		for _, n := range []string{"1", "2", "3"} {
			w.target(n, passes(time.Second))
		}
		w.target("3", nil)
		w.apply(m)
		w.expect("3") // primary is not known yet
		w.wait(settled)
		w.expect("1 2")
		w.set("13", "2")
		w.wait(settled)
		w.expect("3")
	})
}

// check=a,b: both must pass.
func TestTwoChecks(t *testing.T) {
	inWorld(t, func(w *world) {
		m := model(check(), www("primary:1:web+alt", "secondary:2"))
		m.Checks["alt"] = check(named("alt"), func(c *probe.Check) { c.TCP = &probe.TCP{Port: 81} })
		w.apply(m)
		w.wait(settled)
		w.expect("1")
		w.at("192.0.2.1:81", refuses)
		w.wait(settled)
		w.expect("2")
		got := w.member("1")
		if got.State != "down" || got.Checks[0].State != "up" || got.Checks[1].State != "down" || got.Checks[1].Error != "connection refused" {
			t.Errorf("%+v", got)
		}
	})
}
