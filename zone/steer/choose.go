package steer

import (
	"slices"

	"gslbd/zone"
)

// Choose decides what the group answers. Health is parallel to g.Members (a
// missing entry is unknown); previous holds the Data of the records last
// answered while an ordinary pool was usable, nil when there were none.
//
// The truth table of the built-in policy, and where its options come in:
//
//	primary | secondary | answered
//	up      | up        | primary
//	up      | down      | primary
//	down    | up        | secondary
//	down    | down      | the fallback pool, if the group has one; else by all_down:
//	        |           |   keep      previous, without records that left the zone or
//	        |           |             are forced down; nothing left: the first pool
//	        |           |   all       the members of every pool
//	        |           |   primary   the first pool
//	        |           |   nodata    no record (NOERROR and SOA, RFC 2308 §2.2)
//	        |           |   servfail  SERVFAIL
//
// A pool is up while min_healthy of its members are usable, and then only the
// usable ones are answered. Of the fallback pool no health is asked, but the
// operator's word holds there too: forced-down and drained members are left
// out, and if none remains the pool counts as absent. Where all_down takes
// members whatever their health, it likewise leaves out drained and forced-down
// ones and goes on to the next pool, as long as any other member exists.
func Choose(g *zone.Group, p *Policy, health []Health, previous []string) Selection {
	v := view{g, p, health}
	sel := Selection{MaxAnswers: p.MaxAnswers, TTL: g.TTL}
	if pool, ok := v.firstUsable(); ok {
		sel.Rule, sel.Pool = RulePool, pool
		sel.Members = v.usable(pool)
	} else if members := v.ofGrade(willing, p.Fallback); len(members) > 0 {
		sel.Rule, sel.Pool, sel.Members = RuleFallback, p.Fallback, members
	} else {
		v.allDown(&sel, previous)
	}
	sel.Reason = v.reason(&sel)
	return sel
}

// view is the input of one decision.
type view struct {
	g      *zone.Group
	p      *Policy
	health []Health
}

func (v view) at(i int) Health {
	if i < len(v.health) {
		return v.health[i]
	}
	return Health{}
}

func (v view) firstUsable() (pool string, ok bool) {
	for _, pool := range v.p.Order {
		if t := v.tally(pool); t.usable >= t.need {
			return pool, true
		}
	}
	return "", false
}

func (v view) usable(pool string) []int {
	return v.list(func(i int, m *zone.Member) bool {
		return m.Pool == pool && Usable(v.p, v.at(i), m.Weight, pool)
	})
}

// list gives the indexes of the members that match, nil for none.
func (v view) list(match func(i int, m *zone.Member) bool) []int {
	var out []int
	for i := range v.g.Members {
		if match(i, &v.g.Members[i]) {
			if out == nil {
				out = make([]int, 0, len(v.g.Members)-i)
			}
			out = append(out, i)
		}
	}
	return out
}

func (v view) allDown(sel *Selection, previous []string) {
	switch v.p.AllDown {
	case NoData:
		sel.Rule = RuleNoData
	case ServFail:
		sel.Rule = RuleServFail
	case AllMembers:
		sel.Rule = RuleAll
		sel.Members = v.everyMember()
	case Primary:
		sel.Rule = RulePrimary
		sel.Members = v.firstPool()
	default:
		sel.Rule = RuleKeep
		sel.Members = v.kept(previous)
		if len(sel.Members) == 0 {
			sel.Rule = RuleCold
			sel.Members = v.firstPool()
		}
	}
	if len(v.g.Members) == 0 {
		sel.Rule = RuleServFail // no zone file yields such a group
	}
	sel.Pool = v.commonPool(sel.Members)
}

func (v view) kept(previous []string) []int {
	return v.list(func(i int, m *zone.Member) bool {
		return v.at(i).Override != ForcedDown && slices.Contains(previous, m.Data)
	})
}

// firstPool gives the members of the first pool that has any of the best grade.
func (v view) firstPool() []int {
	for grade := willing; grade <= refused; grade++ {
		for _, pool := range v.p.Order {
			if members := v.ofGrade(grade, pool); len(members) > 0 {
				return members
			}
		}
	}
	return v.everyMember()
}

func (v view) everyMember() []int {
	for grade := willing; ; grade++ {
		members := v.list(func(i int, m *zone.Member) bool {
			return gradeOf(v.at(i), m.Weight) <= grade
		})
		if len(members) > 0 || grade == refused {
			return members
		}
	}
}

// ofGrade gives the members of a pool that are of a grade or a better one.
func (v view) ofGrade(worst grade, pool string) []int {
	return v.list(func(i int, m *zone.Member) bool {
		return m.Pool == pool && gradeOf(v.at(i), m.Weight) <= worst
	})
}

func (v view) commonPool(members []int) string {
	if len(members) == 0 {
		return ""
	}
	pool := v.g.Members[members[0]].Pool
	for _, i := range members[1:] {
		if v.g.Members[i].Pool != pool {
			return ""
		}
	}
	return pool
}
