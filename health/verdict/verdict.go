// Package verdict turns the results of probe rounds into states. It is pure:
// it holds counters only, knows no clock and does no I/O.
package verdict

// State of a member as one check, or all its checks together, see it.
type State uint8

// States.
const (
	Unknown State = iota // no result yet
	Up
	Down
)

// maxWindow is the largest Size whose results a Machine remembers.
const maxWindow = 128

// Rule says how many rounds change a state. Size 0 means thresholds: Fall failed
// rounds in a row turn up into down, Rise passed ones down into up (values below
// 1 count as 1). Otherwise the window decides: up while at least Required of the
// last Size rounds passed (Size at most 128, Required 1 to Size).
type Rule struct {
	Fall, Rise     int
	Size, Required int
}

// Machine follows one check of one member. Its zero value is Unknown. Rules are
// given anew with each round, so that a changed one acts on the same history.
type Machine struct {
	state State
	last  bool // the last round passed
	run   int  // rounds in a row with the outcome of the last
	seen  int  // rounds in recent, at most maxWindow
	// recent holds the outcomes, the latest in bit 0 of recent[0]; 1 = passed.
	recent [2]uint64
}

// State is the present state.
func (m *Machine) State() State { return m.state }

// Restored is a Machine in a state that is known from before. It has seen no
// round, so that a change takes all that the rule asks for.
func Restored(s State) Machine { return Machine{state: s} }

// Consecutive counts the rounds in a row with the outcome of the last one; 0
// before the first.
func (m *Machine) Consecutive() int { return m.run }

// First reports whether the last round was the first, which decides alone.
func (m *Machine) First() bool { return m.seen == 1 }

// Observe takes the outcome of one round and reports whether the state changed.
// The first one decides alone.
func (m *Machine) Observe(rule Rule, pass bool) (changed bool) {
	m.record(pass)
	before := m.state
	switch {
	case before == Unknown:
		m.state = stateOf(pass)
	case rule.Size > 0:
		m.state = m.window(rule)
	case pass && m.run >= rule.Rise:
		m.state = Up
	case !pass && m.run >= rule.Fall:
		m.state = Down
	}
	return m.state != before
}

// Doubt takes a round whose result is that nothing is known, and reports whether
// the state changed: Up does not stand after it and is forgotten with all that
// led to it, while Down and its counters stay, so that nothing comes back by it.
func (m *Machine) Doubt() (changed bool) {
	if m.state != Up {
		return false
	}
	*m = Machine{}
	return true
}

func (m *Machine) record(pass bool) {
	if m.run == 0 || m.last != pass {
		m.last, m.run = pass, 0
	}
	m.run++
	m.seen = min(m.seen+1, maxWindow)
	m.recent[1] = m.recent[1]<<1 | m.recent[0]>>63
	m.recent[0] <<= 1
	if pass {
		m.recent[0] |= 1
	}
}

// window decides only what the results that are missing from a young window
// could no longer change; with a full one that is always one of the two.
func (m *Machine) window(rule Rule) State {
	rounds := min(rule.Size, m.seen)
	passed := m.Passed(rule.Size)
	switch {
	case passed >= rule.Required:
		return Up
	case rounds-passed > rule.Size-rule.Required:
		return Down
	}
	return m.state
}

// Passed counts the passes among the last size rounds.
func (m *Machine) Passed(size int) int {
	n := 0
	for i := range min(size, m.seen) {
		n += int(m.recent[i/64] >> (i % 64) & 1)
	}
	return n
}

func stateOf(pass bool) State {
	if pass {
		return Up
	}
	return Down
}
