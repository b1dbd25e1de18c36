package health

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// replay holds the states that the events of an engine make, by place, and the
// answers by group. What comes new with a model begins as the status has it.
type replay struct {
	*world
	events *list
	states map[string]string
	answer map[string][]string
	faults map[string]bool // targets and checks with an open fault
	trail  []string
}

func groupPlace(zone, name, typ string) string { return zone + " " + name + "/" + typ }

func placeOf(e Event) string {
	place := groupPlace(e.Zone, e.Name, e.Type)
	switch e.Kind {
	case EventPool:
		place += " pool " + e.Pool
	case EventMember:
		place += " member " + e.Member
	}
	return place
}

// check replays what was told since the last time and compares it with the
// status of the groups of m.
func (r *replay) check(m Model) {
	r.Helper()
	r.wait(0)
	for _, e := range r.events.take() {
		r.trail = append(r.trail, fmt.Sprintf("%s %s %s %s-%s %s: %s %v %v", e.Time.Format("04:05.000"), e.Kind, placeOf(e), e.From, e.To, e.Rule, e.Cause, e.OldAnswer, e.NewAnswer))
		r.step(e)
	}
	seen := map[string]string{}
	answer := map[string][]string{}
	for i, g := range r.engine.Status().Groups {
		place := groupPlace(zone.Display(m.Groups[i].Key.Zone), g.Name, g.Type)
		seen[place], answer[place] = g.State, slices.Sorted(slices.Values(g.Answer))
		if was, ok := r.answer[place]; ok && !slices.Equal(was, answer[place]) {
			r.fail("%s answers %v, told was %v", place, answer[place], was)
		}
		for _, p := range g.Pools {
			seen[place+" pool "+p.Name] = p.State
			for _, m := range p.Members {
				seen[place+" member "+m.ID] = m.State
			}
		}
	}
	for place, now := range seen {
		if was, ok := r.states[place]; ok && was != now {
			r.fail("%s is %s, told was %s", place, now, was)
		}
	}
	r.states, r.answer = seen, answer
}

// step takes one event, which must be a change of what was.
func (r *replay) step(e Event) {
	place := placeOf(e)
	if e.Kind == EventFault {
		place = e.Check + " " + e.Target
		if e.To == FaultOver && !r.faults[place] {
			r.fail("a fault is over that had not begun: %s", place)
		}
		r.faults[place] = e.To == FaultBegun
		return
	}
	was, known := r.states[place]
	if known && was != e.From {
		r.fail("%s was %s: %+v", place, was, e)
	}
	r.states[place] = e.To
	moved := e.From != e.To
	if e.Kind == EventGroup && e.NewAnswer != nil {
		before, after := slices.Sorted(slices.Values(e.OldAnswer)), slices.Sorted(slices.Values(e.NewAnswer))
		if was, ok := r.answer[place]; ok && !slices.Equal(was, before) {
			r.fail("%s answered %v: %+v", place, was, e)
		}
		r.answer[place] = after
		moved = moved || !slices.Equal(before, after) || e.OldPool != e.Pool || e.Rule != string(steer.RulePool)
	}
	if !moved {
		r.fail("nothing changed: %+v", e)
	}
}

func (r *replay) fail(format string, args ...any) {
	r.Helper()
	for _, line := range r.trail[max(0, len(r.trail)-12):] {
		r.Log(line)
	}
	r.Fatalf(format, args...)
}

// anyModel has groups in two zones with one name in both, members that come, go
// and change pools and checks, and checks that share probes or combine others.
func anyModel(rnd *rand.Rand) Model {
	m := Model{Checks: map[string]probe.Check{}, Policies: map[string]steer.Policy{}}
	for i, name := range []string{"web", "web2", "p1"} {
		c := check(named(name), thresholds(1+rnd.IntN(3), 1+rnd.IntN(3)))
		if rnd.IntN(4) == 0 {
			window(3, 1+rnd.IntN(3))(&c)
		}
		c.TCP = &probe.TCP{Port: uint16(80 + i/2)} // web2 is the probe of web
		m.Checks[name] = c
	}
	m.Checks["any"] = probe.Check{Name: "any", Combination: &probe.Combination{Of: []string{"web", "web2", "p1"}, Need: 1 + rnd.IntN(3)}}
	policy := steer.Failover()
	policy.UnknownAs = steer.State(1 + rnd.IntN(2))
	policy.AllDown = steer.AllDown(rnd.IntN(5))
	policy.MinHealthy = steer.Quorum{Count: 1 + rnd.IntN(2)}
	if rnd.IntN(4) == 0 {
		policy.Order = []string{"secondary", "primary"}
	}
	m.Policies["failover"] = policy
	child := wwwA
	child.Zone = "www.example.com."
	for _, key := range []zone.Key{wwwA, child, slowA} {
		if rnd.IntN(5) == 0 {
			continue
		}
		var words []string
		for n := range 4 {
			if rnd.IntN(4) == 0 && (n < 3 || len(words) > 0) {
				continue
			}
			pool := []string{"primary", "primary", "secondary", "fallback"}[rnd.IntN(4)]
			checks := []string{"web", "web", "web2", "any", "any+web", "p1", "web+web2", "+"}[rnd.IntN(8)]
			words = append(words, fmt.Sprintf("%s:%d:%s", pool, n+1, checks))
		}
		m.Groups = append(m.Groups, makeGroup(key, words...))
	}
	return m
}

// Whatever happens: the events say from which state to which everything went,
// and how it was answered, without a gap, and nothing where nothing changed.
func TestEventsReplayed(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inEventful(t, func(w *world, events *list) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				r := &replay{world: w, events: events, states: map[string]string{}, answer: map[string][]string{}, faults: map[string]bool{}}
				acts := []act{nil, nil, refuses, refuses, hangs, lacksPermission, silent, passes(time.Second)}
				m := anyModel(rnd)
				w.apply(m)
				for range 60 {
					for _, port := range []string{"80", "81"} {
						w.at(fmt.Sprintf("192.0.2.%d:%s", 1+rnd.IntN(4), port), acts[rnd.IntN(len(acts))])
					}
					w.wait(time.Duration(rnd.IntN(30_000)) * time.Millisecond)
					r.check(m)
					if rnd.IntN(3) == 0 {
						m = anyModel(rnd)
						w.apply(m)
						r.trail = append(r.trail, "apply")
						r.check(m)
					}
				}
			})
		})
	}
}
