package steer

import (
	"fmt"
	"strings"
	"testing"

	"gslbd/zone"
)

// TestChooseEveryCombination holds Choose against a plain reading of the rules
// for two primaries and two secondaries in every combination of states and
// overrides, for every all_down, both meanings of unknown and two quorums.
func TestChooseEveryCombination(t *testing.T) {
	healths := []Health{{State: Up}, {State: Down}, {State: Unknown},
		{State: Up, Override: ForcedDown}, {State: Down, Override: ForcedUp}, {State: Up, Override: Drained}}
	g := &zone.Group{TTL: 60, Members: []zone.Member{
		{Data: "a", Pool: "primary", Weight: 1}, {Data: "b", Pool: "primary", Weight: 1},
		{Data: "c", Pool: "secondary", Weight: 1}, {Data: "d", Pool: "secondary", Weight: 1}}}
	n := len(healths)
	for code := range n * n * n * n {
		health := []Health{healths[code%n], healths[code/n%n], healths[code/n/n%n], healths[code/n/n/n]}
		for _, all := range []AllDown{Keep, AllMembers, Primary, NoData, ServFail} {
			for _, unknown := range []State{Up, Down} {
				for need := 1; need <= 2; need++ {
					p := policy(allDown(all), atLeast(need))
					p.UnknownAs = unknown
					got := Choose(g, &p, health, []string{"b", "c"})
					want := plain(g, &p, health, need)
					if text := fmt.Sprintf("%s %s", got.Rule, letters(g, got.Members)); text != want {
						t.Fatalf("health %v, all_down %d, unknown %d, min_healthy %d: got %q, want %q", health, all, unknown, need, text, want)
					}
				}
			}
		}
	}
}

// plain is the decision written out for TestChooseEveryCombination, in which the
// last good answer was b and c and there is no fallback pool.
func plain(g *zone.Group, p *Policy, health []Health, need int) string {
	usable := map[string]string{}
	for i, h := range health {
		m := g.Members[i]
		up := h.State == Up || h.State == Unknown && p.UnknownAs == Up
		if h.Override == ForcedUp || h.Override == Auto && up {
			usable[m.Pool] += m.Data
		}
	}
	for _, pool := range []string{"primary", "secondary"} {
		if len(usable[pool]) >= need {
			return "pool " + usable[pool]
		}
	}
	primary := best(g, health, "primary", "secondary")
	switch p.AllDown {
	case NoData:
		return "nodata "
	case ServFail:
		return "servfail "
	case Primary:
		return "primary " + primary
	case AllMembers:
		return "all " + best(g, health, "both")
	}
	kept := ""
	for _, i := range []int{1, 2} {
		if health[i].Override != ForcedDown {
			kept += g.Members[i].Data
		}
	}
	if kept == "" {
		return "keep-cold " + primary
	}
	return "keep " + kept
}

// best gives the members of the first of the pools that has any whom the
// operator has not set aside; failing that any who are only drained; failing
// that all.
func best(g *zone.Group, health []Health, pools ...string) string {
	for _, without := range []string{"drained forced-down", "forced-down", ""} {
		for _, pool := range pools {
			found := ""
			for i, m := range g.Members {
				word := map[Override]string{ForcedDown: "forced-down", Drained: "drained"}[health[i].Override]
				if (pool == "both" || m.Pool == pool) && (word == "" || !strings.Contains(without, word)) {
					found += m.Data
				}
			}
			if found != "" {
				return found
			}
		}
	}
	return ""
}

// TestAnswersOverAnOutage walks one group through an outage and back, with the
// last good answer handed on from step to step as the engine does.
func TestAnswersOverAnOutage(t *testing.T) {
	steps := []struct{ scene, want, state string }{
		{"p? p? s? s?", "pool primary ab", Degraded},
		{"p+ p? s? s?", "pool primary ab", Healthy},
		{"p+ p+ s+ s+", "pool primary ab", Healthy},
		{"p+ p- s+ s+", "pool primary a", Degraded},
		{"p- p- s+ s+", "pool secondary cd", Degraded},
		{"p- p- s- s+", "pool secondary d", Degraded},
		{"p- p- s- s-", "keep secondary d", Critical},
		{"p- p- s- s-D", "keep-cold primary ab", Critical}, // nothing kept is left
		{"p- p- s- s-", "keep secondary d", Critical},      // the override is gone, the memory is not
		{"p- p+ s- s-", "pool primary b", Degraded},
		{"p- p- s- s-", "keep primary b", Critical},
		{"p- p- s-U s-", "pool secondary c", Degraded},
		{"p+ p+ s+ s+", "pool primary ab", Healthy},
	}
	var previous []string
	p := policy()
	for i, s := range steps {
		g, health := scene(t, s.scene)
		sel := Choose(g, &p, health, previous)
		got := strings.Join([]string{string(sel.Rule), sel.Pool, letters(g, sel.Members)}, " ")
		if got != s.want {
			t.Fatalf("step %d, %s: got %q, want %q (%s)", i, s.scene, got, s.want, sel.Reason)
		}
		if state := GroupState(g, &p, health, sel); state != s.state {
			t.Errorf("step %d, %s: group is %q, want %q", i, s.scene, state, s.state)
		}
		if Proven(sel, health) {
			previous = strings.Split(letters(g, sel.Members), "")
		}
	}
}
