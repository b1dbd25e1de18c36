package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gslbd/health/probe"
)

// program is an exec check that runs at most n commands at the same time.
func program(n int, change ...func(*probe.Check)) probe.Check {
	c := check(change...)
	c.Type, c.TCP, c.Exec = "exec", nil, &probe.Exec{Command: []string{"check-it", "{address}"}, MaxRunning: n}
	return c
}

// crowd is n members whose commands run as do says.
func (w *world) crowd(n int, do act) (words []string) {
	for i := 1; i <= n; i++ {
		w.at(fmt.Sprintf("192.0.2.%d", i), do)
		words = append(words, fmt.Sprintf("primary:%d", i))
	}
	return words
}

// Of a check with a limit no more rounds run at the same time. The others wait
// for their turn and lose none; nothing of their timeout passes meanwhile.
func TestLaneLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		words := w.crowd(100, passes(time.Second))
		w.apply(model(program(4), www(words...)))
		w.wait(30 * time.Second) // 100 rounds of 1 s, four at a time
		if p := w.peakNow(); p != 4 {
			t.Errorf("%d at the same time", p)
		}
		for i := 1; i <= 100; i++ {
			tries := len(w.spansOf(fmt.Sprintf("192.0.2.%d", i)))
			if tries == 0 {
				t.Errorf("member %d was not probed", i)
			}
		}
		if s := w.engine.Stats(); s.Faults != 0 || s.Failed != 0 || s.InFlight > 4 {
			t.Errorf("%+v", s)
		}
	})
}

// A lane that is full of commands that hang takes no place of other checks.
func TestLaneHoldsUpNobody(t *testing.T) {
	inWorldWith(t, Options{MaxInFlight: 10}, func(w *world) {
		words := w.crowd(100, hangs)
		m := model(program(4), www(words...))
		m.Checks["alt"] = check(named("alt"), func(c *probe.Check) { c.TCP = &probe.TCP{Port: 81} })
		other := www("primary:201:alt")
		other.Key.Name = "other.example."
		m.Groups = append(m.Groups, other)
		w.apply(m)
		w.wait(100 * time.Second)
		if n := len(w.spansOf("192.0.2.201:81")); n != 11 {
			t.Errorf("%d rounds of the other check in 100 s, want 11", n)
		}
	})
}

// Checks of one definition share the limit, others have their own.
func TestLaneOfTwoChecks(t *testing.T) {
	same, other := program(4, named("same"), every(time.Minute)), program(4, named("other"))
	other.Exec.Command = []string{"another"}
	if laneOf(program(4)) != laneOf(same) || laneOf(same) == laneOf(other) || laneOf(check()) != "" {
		t.Error("lanes are wrong")
	}
	if program(0).MaxRunning() != 0 || laneOf(program(0)) != "" {
		t.Error("a limit of none")
	}
}

// A reload in the middle leaves nobody waiting for ever.
func TestLaneAfterReload(t *testing.T) {
	inWorld(t, func(w *world) {
		words := w.crowd(40, passes(time.Second))
		for n := 40; n >= 10; n -= 10 {
			w.apply(model(program(1), www(words[40-n:]...)))
			w.wait(2500 * time.Millisecond)
		}
		w.apply(model(program(1, every(time.Second)), www(words[30:]...)))
		w.wait(60 * time.Second)
		for _, word := range words[30:] {
			address := "192.0.2." + strings.TrimPrefix(word, "primary:")
			tries := w.spansOf(address)
			if len(tries) < 4 || time.Since(tries[len(tries)-1].start) > 15*time.Second {
				t.Errorf("%s: %d rounds, the last at %v", address, len(tries), tries)
			}
		}
		if p := w.peakNow(); p > 2 { // a cancelled one may be ending
			t.Errorf("%d at the same time", p)
		}
		w.engine.monitor.mu.Lock()
		if n := len(w.engine.monitor.lanes); n != 1 {
			t.Errorf("%d lanes", n)
		}
		w.engine.monitor.mu.Unlock()
		w.apply(model(check(), www("primary:1")))
		w.wait(10 * time.Second)
		w.engine.monitor.mu.Lock()
		if n := len(w.engine.monitor.lanes); n != 0 {
			t.Errorf("%d lanes without a job", n)
		}
		w.engine.monitor.mu.Unlock()
	})
}

func (w *world) spansOf(addrPort string) []span {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]span(nil), w.spans[addrPort]...)
}
