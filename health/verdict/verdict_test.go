package verdict

import "testing"

// steps drives a machine: rounds is a string of "+" (passed) and "-" (failed),
// want the states after each, as "u" (up) and "d" (down).
func steps(t *testing.T, m *Machine, rule Rule, rounds, want string) {
	t.Helper()
	if len(rounds) != len(want) {
		t.Fatalf("%q and %q differ in length", rounds, want)
	}
	letter := map[State]byte{Unknown: '?', Up: 'u', Down: 'd'}
	for i := range rounds {
		before := m.State()
		changed := m.Observe(rule, rounds[i] == '+')
		if got := letter[m.State()]; got != want[i] {
			t.Fatalf("%+v, rounds %s: state %c after %q, want %c", rule, rounds, got, rounds[:i+1], want[i])
		}
		if changed != (before != m.State()) {
			t.Fatalf("%+v: changed = %v after %q", rule, changed, rounds[:i+1])
		}
	}
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		name         string
		rule         Rule
		rounds, want string
	}{
		{"first pass decides alone", Rule{Fall: 3, Rise: 3}, "+", "u"},
		{"first failure decides alone", Rule{Fall: 3, Rise: 3}, "-", "d"},
		{"fall", Rule{Fall: 2, Rise: 3}, "+--", "uud"},
		{"rise", Rule{Fall: 2, Rise: 3}, "-+++", "dddu"},
		{"a pass resets the failures", Rule{Fall: 2, Rise: 3}, "+-+-+--", "uuuuuud"},
		{"a failure resets the passes", Rule{Fall: 2, Rise: 3}, "-++-++-+++", "dddddddddu"},
		{"one is enough", Rule{Fall: 1, Rise: 1}, "+-+-", "udud"},
		{"zero counts as one", Rule{}, "+-+-", "udud"},
		{"down and back", Rule{Fall: 3, Rise: 2}, "+---++---", "uuudduuud"},
		{"the first round counts in the row", Rule{Fall: 2, Rise: 2}, "-++--", "dduud"},
	} {
		t.Run(c.name, func(t *testing.T) { steps(t, new(Machine), c.rule, c.rounds, c.want) })
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name         string
		rule         Rule
		rounds, want string
	}{
		{"first decides alone", Rule{Size: 5, Required: 3}, "-", "d"},
		{"young window: passes that suffice whatever follows", Rule{Size: 5, Required: 3}, "-+++", "dddu"},
		{"young window: failures that suffice whatever follows", Rule{Size: 5, Required: 3}, "+---", "uuud"},
		{"young window: open until then", Rule{Size: 5, Required: 3}, "+-+-", "uuuu"},
		{"full window", Rule{Size: 3, Required: 2}, "+++--+-++", "uuuuddduu"},
		{"all of one", Rule{Size: 1, Required: 1}, "+-+", "udu"},
		{"all of three", Rule{Size: 3, Required: 3}, "+++-+++", "uuudddu"},
		{"one of three", Rule{Size: 3, Required: 1}, "+---+", "uuudu"},
	} {
		t.Run(c.name, func(t *testing.T) { steps(t, new(Machine), c.rule, c.rounds, c.want) })
	}
}

// A full window is up exactly while enough of its rounds passed, whatever came
// before; sizes up to 100 reach into the second word of the history.
func TestWindowAgainstCounting(t *testing.T) {
	seed := uint32(1)
	for _, rule := range []Rule{{Size: 2, Required: 1}, {Size: 7, Required: 4}, {Size: 64, Required: 32},
		{Size: 65, Required: 33}, {Size: 100, Required: 1}, {Size: 100, Required: 50}, {Size: 100, Required: 100}} {
		var m Machine
		var past []bool
		for n := range 2000 {
			seed = seed*1664525 + 1013904223
			pass := seed>>16%100 < uint32(10+n/25)
			past = append(past, pass)
			m.Observe(rule, pass)
			if len(past) < rule.Size {
				continue
			}
			passed := 0
			for _, p := range past[len(past)-rule.Size:] {
				if p {
					passed++
				}
			}
			if m.Passed(rule.Size) != passed {
				t.Fatalf("%+v, round %d: Passed = %d, want %d", rule, n, m.Passed(rule.Size), passed)
			}
			if up := passed >= rule.Required; up != (m.State() == Up) {
				t.Fatalf("%+v, round %d: state %v with %d passed", rule, n, m.State(), passed)
			}
		}
	}
}

func TestConsecutive(t *testing.T) {
	var m Machine
	if m.State() != Unknown || m.Consecutive() != 0 {
		t.Fatalf("zero value: %v, %d", m.State(), m.Consecutive())
	}
	want := []int{1, 2, 3, 1, 1, 2}
	for i, pass := range []bool{true, true, true, false, true, true} {
		m.Observe(Rule{Fall: 2, Rise: 2}, pass)
		if m.Consecutive() != want[i] {
			t.Fatalf("after round %d: %d in a row, want %d", i+1, m.Consecutive(), want[i])
		}
	}
}

// A rule that changes between rounds acts on the counters as they stand.
func TestChangedRule(t *testing.T) {
	var m Machine
	steps(t, &m, Rule{Fall: 5, Rise: 1}, "+--", "uuu")
	steps(t, &m, Rule{Fall: 3, Rise: 1}, "-", "d")
	steps(t, &m, Rule{Size: 4, Required: 2}, "+", "d") // last four: - - - +
	steps(t, &m, Rule{Size: 4, Required: 2}, "+", "u")
}

// A restored state needs all that the rule asks for; the first round does not
// decide alone.
func TestRestored(t *testing.T) {
	for _, c := range []struct {
		name         string
		from         State
		rule         Rule
		rounds, want string
	}{
		{"one failure leaves up", Up, Rule{Fall: 2, Rise: 3}, "-+", "uu"},
		{"fall failures turn it down", Up, Rule{Fall: 3, Rise: 3}, "---", "uud"},
		{"a pass between resets", Up, Rule{Fall: 2, Rise: 3}, "-+--", "uuud"},
		{"one pass leaves down", Down, Rule{Fall: 2, Rise: 3}, "+-", "dd"},
		{"rise passes bring it up", Down, Rule{Fall: 2, Rise: 3}, "+++", "ddu"},
		{"fall 1", Up, Rule{Fall: 1, Rise: 3}, "-", "d"},
		{"window: up until it cannot be", Up, Rule{Size: 5, Required: 3}, "-+--", "uuud"},
		{"window: down until it must not be", Down, Rule{Size: 5, Required: 3}, "+-++", "dddu"},
		{"unknown: the first decides", Unknown, Rule{Fall: 5, Rise: 5}, "-", "d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Restored(c.from)
			if m.State() != c.from || m.Consecutive() != 0 {
				t.Fatalf("restored as %v, %d in a row", m.State(), m.Consecutive())
			}
			steps(t, &m, c.rule, c.rounds, c.want)
		})
	}
}

// Doubt ends up, and nothing else; what comes after it decides alone.
func TestDoubt(t *testing.T) {
	rule := Rule{Fall: 2, Rise: 3}
	var m Machine
	if m.Doubt() || m.State() != Unknown {
		t.Error("doubt about nothing")
	}
	m.Observe(rule, true)
	if !m.Doubt() || m.State() != Unknown || m.Consecutive() != 0 || m.Doubt() {
		t.Errorf("%+v", m)
	}
	if !m.Observe(rule, false) || m.State() != Down {
		t.Error("the first round after a doubt does not decide alone")
	}
	m.Observe(rule, true)
	if m.Doubt() || m.State() != Down || m.Consecutive() != 1 {
		t.Errorf("%+v", m)
	}
	m.Observe(rule, true)
	if !m.Observe(rule, true) || m.State() != Up {
		t.Error("the counter did not survive a doubt about down")
	}
	m = Restored(Up)
	if !m.Doubt() || m.State() != Unknown {
		t.Error("no doubt about a state from before")
	}
}

func TestFirst(t *testing.T) {
	var m Machine
	rule := Rule{Size: 3, Required: 2}
	for i, want := range []bool{true, false, false} {
		if m.Observe(rule, true); m.First() != want {
			t.Errorf("round %d: first is %v", i+1, m.First())
		}
	}
	m.Doubt()
	if m.First() {
		t.Error("first without a round")
	}
	if m.Observe(rule, false); !m.First() {
		t.Error("the first after a doubt is none")
	}
}
