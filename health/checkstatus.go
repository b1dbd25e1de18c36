package health

import (
	"slices"
	"time"
)

// checks adds the rows of some checks of a member, each combination followed by
// its parts, and what is there already left out.
func (s *snapshot) checks(out *MemberStatus, m *member, places []place) {
	for _, p := range places {
		i, combined := p.combo()
		if !combined {
			u := &m.uses[p]
			if !out.has(u.check) {
				s.leaf(out, u)
			}
			continue
		}
		c := &m.combos[i]
		if out.has(c.check) {
			continue
		}
		row := len(out.Checks)
		out.Checks = append(out.Checks, CheckStatus{Name: c.check, State: stateWord(c.state), Error: c.problem(m.count(c.parts))})
		s.checks(out, m, c.parts)
		out.Checks[row].Of = m.names(c.parts)
		out.span(row)
	}
}

// leaf adds the row of a check that is probed.
func (s *snapshot) leaf(out *MemberStatus, u *use) {
	c := CheckStatus{Name: u.check, State: stateWord(u.machine.State()), Consecutive: u.machine.Consecutive()}
	if u.source == nil {
		c.Error = "the check is not defined"
	} else {
		seen := s.seen[u.source]
		c.Target = u.source.address()
		c.LastProbe, c.NextProbe = seen.ended, seen.due
		c.Error = seen.problem(s.taken)
		out.LatencyMS = max(out.LatencyMS, float64(seen.latency)/float64(time.Millisecond))
	}
	out.Checks = append(out.Checks, c)
}

func (m *MemberStatus) has(check string) bool {
	return slices.ContainsFunc(m.Checks, func(c CheckStatus) bool { return c.Name == check })
}

// span gives a combination's row the last and the next probe of its parts.
func (m *MemberStatus) span(row int) {
	combined := &m.Checks[row]
	for _, part := range m.Checks {
		if !slices.Contains(combined.Of, part.Name) {
			continue
		}
		if part.LastProbe.After(combined.LastProbe) {
			combined.LastProbe = part.LastProbe
		}
		if next := combined.NextProbe; next.IsZero() || !part.NextProbe.IsZero() && part.NextProbe.Before(next) {
			combined.NextProbe = part.NextProbe
		}
	}
}

// names gives the names of checks by their places.
func (m *member) names(places []place) []string {
	out := make([]string, len(places))
	for k, p := range places {
		if i, ok := p.combo(); ok {
			out[k] = m.combos[i].check
		} else {
			out[k] = m.uses[p].check
		}
	}
	return out
}
