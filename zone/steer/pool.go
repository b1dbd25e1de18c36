package steer

import (
	"slices"

	"gslbd/zone"
)

// Words for the state of a pool or a group.
const (
	Healthy  = "healthy"
	Degraded = "degraded"
	Critical = "critical"
	Unprobed = "unknown"
	NoHealth = "no-health"
)

// String gives "unknown", "up" or "down".
func (s State) String() string {
	switch s {
	case Up:
		return "up"
	case Down:
		return "down"
	}
	return "unknown"
}

// grade is how willing the operator is to see a member answered.
type grade uint8

const (
	willing grade = iota
	drained       // weight 0, or the override
	refused       // forced down
)

func gradeOf(h Health, weight uint16) grade {
	switch {
	case h.Override == ForcedDown:
		return refused
	case h.Override == ForcedUp:
		return willing
	case h.Override == Drained, weight == 0:
		return drained
	}
	return willing
}

// Usable reports whether a member of the pool may be answered while that pool
// is chosen. Forced-up counts as usable, also with weight 0; forced-down and
// drained do not; otherwise the state decides, and an unknown one counts as the
// policy says. In the fallback pool the state is not asked.
func Usable(p *Policy, h Health, weight uint16, pool string) bool {
	if gradeOf(h, weight) != willing {
		return false
	}
	if h.Override == ForcedUp || (pool == p.Fallback && pool != "") {
		return true
	}
	return h.State == Up || (h.State == Unknown && p.UnknownAs != Down)
}

// UsableMembers gives the indexes of the pool's usable members, in zone order.
func UsableMembers(g *zone.Group, p *Policy, health []Health, pool string) []int {
	return view{g, p, health}.usable(pool)
}

// Pools gives the pools that have members: ordinary ones best first, then the
// fallback pool, then any that the policy does not name.
func Pools(g *zone.Group, p *Policy) []string {
	var out []string
	add := func(pool string) {
		has := slices.ContainsFunc(g.Members, func(m zone.Member) bool { return m.Pool == pool })
		if has && !slices.Contains(out, pool) {
			out = append(out, pool)
		}
	}
	for _, pool := range p.Order {
		add(pool)
	}
	add(p.Fallback)
	for i := range g.Members {
		add(g.Members[i].Pool)
	}
	return out
}

// tally counts the members of one pool. Drained ones count only as drained.
type tally struct {
	size    int // members that are not drained
	usable  int
	up      int // usable other than by being unknown
	unknown int
	drained int
	need    int // usable members that the pool needs, at least 1
}

func (v view) tally(pool string) tally {
	var t tally
	for i := range v.g.Members {
		m := &v.g.Members[i]
		if m.Pool != pool {
			continue
		}
		h := v.at(i)
		if gradeOf(h, m.Weight) == drained {
			t.drained++
			continue
		}
		t.size++
		usable := Usable(v.p, h, m.Weight, pool)
		unknown := h.Override == Auto && h.State == Unknown
		if usable {
			t.usable++
		}
		if unknown {
			t.unknown++
		} else if usable {
			t.up++
		}
	}
	t.need = v.p.MinHealthy.of(t.size)
	return t
}

func (q Quorum) of(size int) int {
	need := q.Count
	if q.Percent > 0 {
		need = (size*q.Percent + 99) / 100
	}
	return max(need, 1)
}

// PoolState gives the pool's state in one word: NoHealth for the fallback pool;
// Unprobed while no member has a state; Critical below min_healthy; Healthy when
// every member that is not drained is usable; else Degraded.
func PoolState(g *zone.Group, p *Policy, health []Health, pool string) string {
	if pool == p.Fallback {
		return NoHealth
	}
	t := view{g, p, health}.tally(pool)
	switch {
	case t.size > 0 && t.unknown == t.size:
		return Unprobed
	case t.usable < t.need:
		return Critical
	case t.usable < t.size:
		return Degraded
	}
	return Healthy
}

// GroupState gives the group's state in one word: Healthy while its first pool
// answers and is healthy, Critical while no ordinary pool is usable, else
// Degraded. The first pool is the first of the policy's order that has members.
func GroupState(g *zone.Group, p *Policy, health []Health, sel Selection) string {
	if sel.Rule != RulePool {
		return Critical
	}
	for _, pool := range p.Order {
		if t := (view{g, p, health}).tally(pool); t.size+t.drained > 0 {
			if sel.Pool == pool && PoolState(g, p, health, pool) == Healthy {
				return Healthy
			}
			break
		}
	}
	return Degraded
}

// Proven reports whether the selection came from a usable pool of which at least
// one answered member is up by a result or by the operator's word. Only such an
// answer is worth keeping: one given to members that nobody has probed yet says
// nothing, and with it what a cold start keeps would depend on whose first
// result came in first.
func Proven(sel Selection, health []Health) bool {
	if sel.Rule != RulePool {
		return false
	}
	return slices.ContainsFunc(sel.Members, func(i int) bool {
		return i < len(health) && (health[i].State == Up || health[i].Override == ForcedUp)
	})
}
