package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"gslbd/health/probe"
	"gslbd/zone/steer"
)

// combined is a model whose checks p1, p2 and p3 ask ports 1 to 3, and whose
// combinations are lines "name need: part part".
func combined(words []string, lines ...string) Model {
	m := model(check(), www(words...))
	for i := range uint16(3) {
		name := fmt.Sprintf("p%d", i+1)
		m.Checks[name] = check(named(name), func(c *probe.Check) { c.TCP = &probe.TCP{Port: i + 1} })
	}
	for _, line := range lines {
		var name string
		var need int
		fmt.Sscanf(line, "%s %d", &name, &need)
		_, of, _ := strings.Cut(line, ":")
		m.Checks[name] = probe.Check{Name: name, Combination: &probe.Combination{Of: strings.Fields(of), Need: need}}
	}
	return m
}

// ports makes the ports of 192.0.2.1 named in up pass and the others refuse.
func (w *world) ports(up string) {
	for _, port := range "123" {
		do := act(refuses)
		if strings.ContainsRune(up, port) {
			do = nil
		}
		w.at("192.0.2.1:"+string(port), do)
	}
}

// Each kind, and two nested ones, as their ports come and go.
func TestCombinations(t *testing.T) {
	for _, c := range []struct {
		name  string
		check string
		lines []string
		up    string // each of these sets of ports makes the member up
	}{
		{"all", "c", []string{"c 3: p1 p2 p3"}, "123"},
		{"any", "c", []string{"c 1: p1 p2 p3"}, "1 2 3 12 13 23 123"},
		{"at least two", "c", []string{"c 2: p1 p2 p3"}, "12 13 23 123"},
		{"nested", "c", []string{"c 2: in p3", "in 1: p1 p2"}, "13 23 123"},
		{"shared leaf", "c", []string{"c 2: a b", "a 1: p1 p2", "b 1: p2 p3"}, "2 12 23 13 123"},
		{"beside a check", "p1+c", []string{"c 1: p2 p3"}, "12 13 123"},
		{"two on one member", "a+b", []string{"a 1: p1 p2", "b 1: p1 p3"}, "1 12 13 23 123"},
		{"a check and a combination of it", "p1+c", []string{"c 1: p1 p2"}, "1 12 13 123"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.apply(combined([]string{"primary:1:" + c.check, "secondary:2"}, c.lines...))
				for _, up := range []string{"123", "1", "2", "3", "12", "", "13", "23", "123"} {
					w.ports(up)
					w.wait(settled)
					want := "2"
					if strings.Contains(" "+c.up+" ", " "+up+" ") && up != "" {
						want = "1"
					}
					if got := w.answer(); got != want {
						t.Errorf("ports %q up: answered %q, want %q; %+v", up, got, want, w.member("1").Checks)
					}
				}
			})
		})
	}
}

// A combination is known as soon as the parts that are still unknown cannot
// change it, and leaves the member unknown until then.
func TestCombinationOfUnknown(t *testing.T) {
	for _, c := range []struct {
		name       string
		need       int
		one, two   act
		early, end string
	}{
		{"any: one pass is enough", 1, nil, hangs, "up", "up"},
		{"any: one failure is not", 1, refuses, hangs, "unknown", "down"},
		{"all: one failure is enough", 2, refuses, hangs, "down", "down"},
		{"all: one pass is not", 2, nil, hangs, "unknown", "down"},
		{"all: one pass is not, then the other", 2, nil, passes(2 * time.Second), "unknown", "up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.at("192.0.2.1:1", c.one)
				w.at("192.0.2.1:2", c.two)
				w.apply(combined([]string{"primary:1:c", "secondary:2"}, fmt.Sprintf("c %d: p1 p2", c.need)))
				w.wait(time.Second)
				if got := w.member("1").State; got != c.early {
					t.Errorf("at first %s, want %s", got, c.early)
				}
				w.wait(5 * time.Second)
				if got := w.member("1"); got.State != c.end || got.Checks[0].State != c.end {
					t.Errorf("then %+v, want %s", got, c.end)
				}
			})
		})
	}
}

// Status has one row for each combination and each leaf, however often it is used.
func TestCombinationRows(t *testing.T) {
	inWorld(t, func(w *world) {
		start := time.Now()
		w.ports("1")
		w.apply(combined([]string{"primary:1:c+p1", "secondary:2"}, "c 2: any p3", "any 1: p1 p2"))
		w.wait(7 * time.Second)
		m := w.member("1")
		var rows []string
		for _, c := range m.Checks {
			rows = append(rows, fmt.Sprintf("%s %s %d %s %v", c.Name, c.State, c.Consecutive, c.Error, c.Of))
		}
		want := []string{
			"c down 0 1 of 2 up, 2 needed [any p3]",
			"any up 0  [p1 p2]",
			"p1 up 2  []",
			"p2 down 2 connection refused []",
			"p3 down 2 connection refused []",
		}
		if got := strings.Join(rows, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("got\n%s", got)
		}
		if c := m.Checks[0]; c.LastProbe.Sub(start) != 5*time.Second || c.NextProbe.Sub(start) != 15*time.Second {
			t.Errorf("last %v, next %v", c.LastProbe.Sub(start), c.NextProbe.Sub(start))
		}
		if s := w.engine.Stats(); s.Probes != 4 {
			t.Errorf("%d probes, want 4", s.Probes)
		}
	})
}

// A reload that combines what was asked before keeps the counters of the leaves.
func TestReloadIntoCombination(t *testing.T) {
	inWorld(t, func(w *world) {
		w.ports("12")
		w.apply(combined([]string{"primary:1:p1+p2", "secondary:2"}))
		w.wait(settled)
		w.ports("2")
		w.wait(settled)
		w.expect("2")
		w.apply(combined([]string{"primary:1:c", "secondary:2"}, "c 1: p1 p2"))
		w.expect("1")
		w.apply(combined([]string{"primary:1:c", "secondary:2"}, "c 2: p1 p2"))
		w.expect("2")
	})
}

// No configuration has such a circle; a model that has one stops nothing.
func TestCombinationOfItself(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(combined([]string{"primary:1:c", "secondary:2"}, "c 1: d", "d 2: c p1"))
		w.wait(settled)
		w.expect("2")
		if m := w.member("1"); len(m.Checks) != 3 {
			t.Errorf("%+v", m.Checks)
		}
	})
}

// Evaluating a member allocates nothing, with combinations or without.
func TestEvaluationAllocatesNothing(t *testing.T) {
	b := &builder{model: combined([]string{"primary:1:c+p3"}, "c 2: any p3", "any 1: p1 p2"), old: newDecider(nil, zap.NewNop()), sources: map[string]*source{}}
	g := b.group(b.model.Groups[0])
	for i := range g.members[0].uses {
		g.members[0].uses[i].observe(true)
	}
	if n := testing.AllocsPerRun(100, func() { g.combine(0, time.Time{}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if g.health[0].State != steer.Up {
		t.Errorf("state %v", g.health[0].State)
	}
}
