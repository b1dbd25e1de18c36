package health

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"gslbd/health/probe"
)

// A member that only one part vouched for does not stay up when that goes down
// and the other part has never given a result.
func TestCombinationLosesItsVoucher(t *testing.T) {
	inWorld(t, func(w *world) {
		w.at("192.0.2.1:2", lacksPermission)
		w.apply(wary(combined([]string{"primary:1:c", "secondary:2"}, "c 1: p1 p2")))
		w.wait(settled)
		w.expect("1")
		w.at("192.0.2.1:1", refuses)
		w.wait(settled)
		if m := w.member("1"); m.State != "unknown" || m.Checks[0].State != "unknown" {
			t.Errorf("member %s, combination %s", m.State, m.Checks[0].State)
		}
		w.expect("2")
		if n := w.logs.FilterMessage("member unknown").Len(); n != 1 {
			t.Errorf("logged %d times", n)
		}
		w.at("192.0.2.1:1", nil)
		w.wait(settled)
		w.expect("1")
	})
}

// A reload that gives a combination other probes changes no state by the first
// of their results alone, as long as the others may still say the same.
func TestReloadOfCombinationWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(wary(combined([]string{"primary:1:c", "secondary:2"}, "c 1: p1")))
		w.wait(settled)
		w.at("192.0.2.1:2", refuses)
		w.at("192.0.2.1:3", passes(2*time.Second))
		w.apply(wary(combined([]string{"primary:1:c", "secondary:2"}, "c 1: p2 p3")))
		for range 5 {
			w.wait(time.Second)
			w.expect("1")
		}
	})
}

// A state that a reload had kept and that doubt takes is something new to save.
func TestDoubtAfterReloadIsSaved(t *testing.T) {
	var told atomic.Int32
	inWorldWith(t, Options{Changed: func() { told.Add(1) }}, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.at("192.0.2.1:81", silent)
		m := model(check(), www("primary:1:web+alt", "secondary:2"))
		m.Checks["alt"] = check(named("alt"), func(c *probe.Check) { c.TCP = &probe.TCP{Port: 81} })
		before := told.Load() // the first result may come before apply returns
		w.apply(m)
		w.wait(time.Second)
		if s := w.member("1").State; s != "unknown" {
			t.Errorf("state %s", s)
		}
		if n := told.Load() - before; n != 2 {
			t.Errorf("told %d times, want once of the reload and once of the doubt", n)
		}
	})
}

// Groups of many members are copied a few at a time, so that no result waits
// long while the state is saved.
func TestSavedInSmallPieces(t *testing.T) {
	var words []string
	for i := range 250 {
		words = append(words, fmt.Sprintf("primary:%d", i))
	}
	b := &builder{model: model(check(), www(words...)), old: newDecider(nil, zap.NewNop()), sources: map[string]*source{}}
	g := b.group(b.model.Groups[0])
	left := []*group{g, g, g, g, g}
	var s Saved
	for _, want := range []int{2, 4, 5} {
		left = s.take(left)
		if len(s.Groups) != want || len(left) != 5-want {
			t.Fatalf("%d groups saved, %d left, want %d saved", len(s.Groups), len(left), want)
		}
	}
}

// Whatever results come in whatever order, with no reload between: a member is
// what its combination says, and if that is unknown the member is not up.
func TestMemberFollowsCombination(t *testing.T) {
	acts := []act{nil, refuses, silent, lacksPermission}
	for _, lines := range [][]string{
		{"c 1: p1 p2 p3"}, {"c 2: p1 p2 p3"}, {"c 3: p1 p2 p3"},
		{"c 2: in p3", "in 1: p1 p2"}, {"c 1: in p3", "in 2: p1 p2"}, {"c 2: a b", "a 1: p1 p2", "b 1: p2 p3"},
	} {
		inWorld(t, func(w *world) {
			random := rand.New(rand.NewPCG(1, 2))
			w.apply(wary(combined([]string{"primary:1:c", "secondary:2"}, lines...)))
			for range 800 {
				w.at(fmt.Sprintf("192.0.2.1:%d", 1+random.IntN(3)), acts[random.IntN(len(acts))])
				w.wait(time.Duration(random.IntN(30)) * time.Second)
				m := w.member("1")
				says := m.Checks[0].State
				if says != m.State && (says != "unknown" || m.State == "up") {
					t.Fatalf("%v: member %s, %+v", lines, m.State, m.Checks)
				}
				want := "2"
				if m.State == "up" {
					want = "1"
				}
				w.expect(want)
			}
		})
	}
}
