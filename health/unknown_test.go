package health

import (
	"context"
	"strings"
	"testing"
	"time"

	"gslbd/health/probe"
	"gslbd/zone/steer"
)

// silent is a target about which nothing can be found out.
func silent(context.Context) probe.Result {
	return probe.Result{Outcome: probe.Unknown, Reason: "/run/states has no line for 192.0.2.1"}
}

// wary is a model that counts unknown as down.
func wary(m Model) Model {
	p := steer.Failover()
	p.UnknownAs = steer.Down
	m.Policies["failover"] = p
	return m
}

func (w *world) says(member, state, problem string) {
	w.Helper()
	m := w.member(member)
	if m.State != state || m.Checks[0].Error != problem {
		w.Errorf("member %s is %s, %q; want %s, %q", member, m.State, m.Checks[0].Error, state, problem)
	}
}

const noLine = "unknown: /run/states has no line for 192.0.2.1"

// What was up is unknown at once when nothing is known any longer: never up.
func TestUnknownAfterUp(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(wary(model(check(), www("primary:1", "secondary:2"))))
		w.wait(time.Second)
		w.expect("1")
		w.target("1", silent)
		w.wait(10 * time.Second)
		w.says("1", "unknown", noLine)
		w.expect("2")
		if m := w.member("1"); m.Usable || m.Checks[0].State != "unknown" || m.Checks[0].Consecutive != 0 {
			t.Errorf("%+v", m)
		}
		lines := w.logs.FilterMessage("member unknown").All()
		if len(lines) != 1 || lines[0].ContextMap()["why"] != "nothing is known any longer: /run/states has no line for 192.0.2.1" {
			t.Errorf("log: %v", lines)
		}
		if n := w.logs.FilterMessage("probe fault").Len(); n != 1 {
			t.Errorf("logged %d times", n)
		}
		if s := w.engine.Stats(); s.Failed != 0 || s.Faults == 0 {
			t.Errorf("%+v", s)
		}
		w.target("1", nil) // the first word decides alone
		w.wait(10 * time.Second)
		w.says("1", "up", "")
		w.expect("1")
	})
}

// A dead member is not brought back by a file that went missing, whatever
// unknown counts as.
func TestUnknownAfterDown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", refuses)
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.target("1", silent)
		w.wait(60 * time.Second)
		w.says("1", "down", "no result since 2000-01-01T00:00:00Z; "+noLine)
		w.expect("2")
		w.target("1", nil) // rise counts as if nothing had been between
		w.wait(20 * time.Second)
		w.expect("2")
		w.wait(10 * time.Second)
		w.expect("1")
	})
}

func TestUnknownFromTheStart(t *testing.T) {
	for _, careful := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.target("1", silent)
			m := model(check(), www("primary:1", "secondary:2"))
			want := "1" // as the policy says
			if careful {
				m, want = wary(m), "2"
			}
			w.apply(m)
			w.wait(30 * time.Second)
			if got := w.member("1"); got.State != "unknown" {
				t.Errorf("%+v", got)
			}
			w.expect(want)
			if !w.engine.Ready() {
				t.Error("a round without result is a finished one")
			}
		})
	}
}

// Beside other checks: one that is down decides, and one that is up does not
// make up for what is unknown.
func TestUnknownBesideAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		m := wary(model(check(), www("primary:1:web+alt", "secondary:2")))
		m.Checks["alt"] = check(named("alt"), func(c *probe.Check) { c.TCP = &probe.TCP{Port: 81} })
		w.apply(m)
		w.wait(time.Second)
		w.target("1", silent)
		w.wait(10 * time.Second)
		w.says("1", "unknown", noLine)
		w.at("192.0.2.1:81", refuses)
		w.wait(20 * time.Second)
		w.says("1", "down", "no result since 2000-01-01T00:00:00Z; "+noLine)
		w.at("192.0.2.1:81", nil)
		w.wait(60 * time.Second)
		if s := w.member("1").State; s != "down" {
			t.Errorf("%s, though one of its checks is unknown", s)
		}
		w.target("1", nil)
		w.wait(10 * time.Second)
		if s := w.member("1").State; s != "up" {
			t.Errorf("%s", s)
		}
	})
}

// A reload keeps a member up until a new check says otherwise; that nothing is
// known is otherwise.
func TestUnknownAfterReload(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(wary(model(check(), www("primary:1", "secondary:2"))))
		w.wait(time.Second)
		w.at("192.0.2.1:81", silent)
		m := wary(model(check(), www("primary:1:web+alt", "secondary:2")))
		m.Checks["alt"] = check(named("alt"), func(c *probe.Check) { c.TCP = &probe.TCP{Port: 81} })
		w.apply(m)
		w.wait(time.Second)
		if s := w.member("1").State; s != "unknown" {
			t.Errorf("%s", s)
		}
		w.expect("2")
		if n := len(w.logs.FilterMessage("member unknown").All()); n != 1 {
			t.Errorf("logged %d times", n)
		}
		if e := w.member("1").Checks[1].Error; !strings.HasPrefix(e, "unknown: ") {
			t.Errorf("error %q", e)
		}
	})
}

// A combination that an unknown result leaves open is shown so also while the
// member is down by another check.
func TestUnknownPartOfDownMember(t *testing.T) {
	inWorld(t, func(w *world) {
		w.ports("1")
		w.apply(combined([]string{"primary:1:c", "secondary:2"}, "c 2: in p3", "in 1: p1 p2"))
		w.wait(settled)
		w.at("192.0.2.1:1", silent)
		w.wait(settled)
		m := w.member("1")
		if m.State != "down" {
			t.Errorf("member is %s", m.State)
		}
		for _, c := range m.Checks {
			if c.Name == "in" && (c.State != "unknown" || c.Error != "0 of 2 up, 1 needed (1 unknown)") {
				t.Errorf("%+v", c)
			}
		}
	})
}
