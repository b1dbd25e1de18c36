package health

import (
	"fmt"

	"gslbd/health/verdict"
	"gslbd/zone/steer"
)

// combo is a check of a member that combines others of the same member.
type combo struct {
	check string // name
	need  int    // how many of parts must be up
	parts []place
	state verdict.State // of the last evaluation
}

// place says where a check of a member is kept: in uses, or if it is negative
// in combos, counted from -1 downwards.
type place int

func comboPlace(i int) place { return place(-1 - i) }

func (p place) combo() (i int, ok bool) { return int(-1 - p), p < 0 }

// place finds a check of the member by name.
func (m *member) place(check string) (p place, ok bool) {
	for i := range m.uses {
		if m.uses[i].check == check {
			return place(i), true
		}
	}
	for i := range m.combos {
		if m.combos[i].check == check {
			return comboPlace(i), true
		}
	}
	return 0, false
}

// places finds checks by name. One that is not there yet combines the asking
// check in turn; such a circle, which no configuration has, is left open here.
func (m *member) places(checks []string) []place {
	out := make([]place, 0, len(checks))
	for _, check := range checks {
		if p, ok := m.place(check); ok {
			out = append(out, p)
		}
	}
	return out
}

func (m *member) at(p place) verdict.State {
	if i, ok := p.combo(); ok {
		return m.combos[i].state
	}
	return m.uses[p].machine.State()
}

func (m *member) count(parts []place) (c verdict.Count) {
	for _, p := range parts {
		c.Add(m.at(p))
	}
	return c
}

// state evaluates the combinations and gives the state that they and the other
// checks make.
func (m *member) state() steer.State {
	for i := range m.combos {
		c := &m.combos[i]
		c.state = m.count(c.parts).AtLeast(c.need)
	}
	switch m.count(m.needs).All() {
	case verdict.Up:
		m.whole = steer.Up
	case verdict.Down:
		m.whole = steer.Down
	default:
		m.whole = steer.Unknown
	}
	return m.whole
}

// problem says how a combination that is not up stands.
func (c *combo) problem(n verdict.Count) string {
	if c.state == verdict.Up {
		return ""
	}
	text := fmt.Sprintf("%d of %d up, %d needed", n.Up, n.Total(), c.need)
	if n.Unknown > 0 {
		text += fmt.Sprintf(" (%d unknown)", n.Unknown)
	}
	return text
}
