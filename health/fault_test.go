package health

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gslbd/health/probe"
)

// A fault of our own is neither pass nor fail: states and counters stay, the
// status shows it, the log has it once, the statistics count it.
func TestFaultKeepsState(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.target("1", lacksPermission)
		w.wait(100 * time.Second)
		w.expect("1")
		m := w.member("1")
		if m.State != "up" || m.Checks[0].Consecutive != 1 {
			t.Errorf("%+v", m)
		}
		if e := m.Checks[0].Error; !strings.Contains(e, "fault: no permission") {
			t.Errorf("error %q", e)
		}
		if n := w.logs.FilterMessage("probe fault").Len(); n != 1 {
			t.Errorf("logged %d times", n)
		}
		if s := w.engine.Stats(); s.Faults != 10 || s.Failed != 0 {
			t.Errorf("%+v", s)
		}
		w.target("1", nil)
		w.wait(10 * time.Second)
		if n := w.logs.FilterMessage("probe fault over").Len(); n != 1 {
			t.Errorf("its end logged %d times", n)
		}
		if e := w.member("1").Checks[0].Error; e != "" {
			t.Errorf("error %q after a pass", e)
		}
	})
}

// A fault that comes and goes is not told at each turn; one that stays is told
// in the end, though the log had called it over.
func TestFaultThatComesAndGoes(t *testing.T) {
	inWorld(t, func(w *world) {
		lines := func() [2]int {
			return [2]int{w.logs.FilterMessage("probe fault").Len(), w.logs.FilterMessage("probe fault over").Len()}
		}
		w.apply(model(check(), www("primary:1"))) // rounds at 0, 5, 15, 25 s
		w.wait(time.Second)
		for range 12 { // four minutes
			w.target("1", lacksPermission)
			w.wait(10 * time.Second)
			w.target("1", nil)
			w.wait(10 * time.Second)
		}
		if got := lines(); got != [2]int{1, 1} {
			t.Errorf("faults and ends told: %v", got)
		}
		w.target("1", lacksPermission)
		w.wait(time.Hour)
		if got := lines(); got != [2]int{2, 1} {
			t.Errorf("after one that stays: %v", got)
		}
		w.target("1", nil)
		w.wait(10 * time.Second)
		if got := lines(); got != [2]int{2, 2} {
			t.Errorf("after its end: %v", got)
		}
	})
}

// A fault between two failures does not reset what counts towards fall.
func TestFaultBetweenFailures(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2"))) // rounds at 0, 5, 15, 25, 35 s
		w.wait(time.Second)
		for _, do := range []act{refuses, lacksPermission} {
			w.target("1", do)
			w.wait(10 * time.Second)
		}
		w.expect("1")
		w.target("1", refuses)
		w.wait(10 * time.Second)
		w.expect("2")
	})
}

func TestFaultWithoutEarlierState(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", lacksPermission)
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.expect("1")
		if m := w.member("1"); m.State != "unknown" || !m.Usable || m.Checks[0].Error != "fault: no permission" {
			t.Errorf("%+v", m)
		}
		if !w.engine.Ready() {
			t.Error("a finished round with a fault counts as the first round")
		}
	})
}

// A fault that becomes another is logged again; a different one for each round
// would be, too, so reasons must not carry numbers that change.
func TestChangedFaultIsLogged(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", lacksPermission)
		w.apply(model(check(), www("primary:1")))
		w.wait(30 * time.Second)
		w.target("1", func(context.Context) probe.Result {
			return probe.Result{Outcome: probe.Fault, Reason: "too many open files"}
		})
		w.wait(30 * time.Second)
		if n := w.logs.FilterMessage("probe fault").Len(); n != 2 {
			t.Errorf("logged %d times", n)
		}
	})
}

// What keeps a prober from being made is a fault; it is tried again every
// interval.
func TestProberThatCannotBeMade(t *testing.T) {
	inWorld(t, func(w *world) {
		w.broken = errors.New("ca_file: no such file")
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(30 * time.Second)
		if m := w.member("1"); m.State != "unknown" || !strings.Contains(m.Checks[0].Error, "fault: ca_file: no such file") {
			t.Errorf("%+v", m)
		}
		w.mu.Lock()
		w.broken = nil
		w.mu.Unlock()
		w.wait(10 * time.Second)
		if m := w.member("1"); m.State != "up" || m.Checks[0].Error != "" {
			t.Errorf("%+v", m)
		}
	})
}

func TestPanicIsAFault(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("1", func(context.Context) probe.Result { panic("index out of range") })
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(30 * time.Second) // rounds at 0, 5, 15, 25 s
		w.mu.Lock()
		if w.made != 5 {
			t.Errorf("%d probers made: one that panicked must not be used again", w.made)
		}
		w.mu.Unlock()
		if m := w.member("1"); m.State != "unknown" || !strings.Contains(m.Checks[0].Error, "fault: the prober panicked: index out of range") {
			t.Errorf("%+v", m)
		}
		entry := w.logs.FilterMessage("probe fault").All()
		if len(entry) != 1 || !strings.Contains(entry[0].ContextMap()["stack"].(string), "fault_test.go") {
			t.Errorf("log: %v", entry)
		}
		w.target("1", nil)
		w.wait(10 * time.Second)
		if m := w.member("1"); m.State != "up" {
			t.Errorf("%+v", m)
		}
	})
}

// A prober that does not come back leaves the last state standing; the status
// says since when nothing was heard.
func TestStaleStateIsShown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		last := w.member("1").Checks[0].LastProbe
		release := make(chan struct{})
		w.target("1", func(context.Context) probe.Result {
			<-release
			return probe.Result{Outcome: probe.Pass}
		})
		w.wait(time.Until(last.Add(30 * time.Second))) // 2 × (10 s + 5 s)
		if e := w.member("1").Checks[0].Error; e != "" {
			t.Errorf("error %q within the time", e)
		}
		w.wait(1)
		m := w.member("1")
		if want := "no result since " + last.UTC().Format(time.RFC3339); m.State != "up" || m.Checks[0].Error != want {
			t.Errorf("%s, error %q, want %q", m.State, m.Checks[0].Error, want)
		}
		close(release)
		w.wait(time.Second)
		if e := w.member("1").Checks[0].Error; e != "" {
			t.Errorf("error %q after a result", e)
		}
	})
}
