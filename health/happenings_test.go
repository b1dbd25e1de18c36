package health

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"gslbd/health/probe"
)

// fields gives the only line with this event, its fields as text or lists.
func (w *world) line(event string) map[string]any {
	w.Helper()
	lines := w.logs.FilterMessage(event).TakeAll()
	if len(lines) != 1 {
		w.Fatalf("%d lines %q", len(lines), event)
	}
	fields := lines[0].ContextMap()
	fields["level"] = lines[0].Level.String()
	return fields
}

// A failover in the log: who went down and why, and what it changed.
func TestLogOfAFailover(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		w.target("1", refuses)
		w.logs.TakeAll()
		w.wait(20 * time.Second)
		all := w.logs.All()
		if len(all) != 3 || all[0].Message != "member down" || all[1].Message != "pool critical" || all[2].Message != "answer changed" {
			t.Fatalf("%v", all)
		}
		if diff := cmp.Diff(map[string]any{"level": "warn", "group": "www.example.com/A", "member": "192.0.2.1",
			"pool": "primary", "target": "192.0.2.1:80", "check": "web", "from": "up", "to": "down",
			"why": "2 rounds in a row failed: connection refused"}, w.lineOf(0)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]any{"level": "debug", "group": "www.example.com/A", "pool": "primary",
			"from": "healthy", "to": "critical", "why": "0 of 1 up"}, w.lineOf(1)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]any{"level": "info", "group": "www.example.com/A", "policy": "failover",
			"from_pool": "primary", "to_pool": "secondary",
			"old_answer": []any{"192.0.2.1"}, "new_answer": []any{"192.0.2.2"}, "rule": "pool",
			"reason": `pool "primary" is down (0 of 1 up); pool "secondary" answers`}, w.lineOf(2)); diff != "" {
			t.Error(diff)
		}
	})
}

func (w *world) lineOf(i int) map[string]any {
	entry := w.logs.All()[i]
	fields := entry.ContextMap()
	fields["level"] = entry.Level.String()
	return fields
}

// All pools down: one warning that the answer is kept, none for each round.
func TestLogOfAKeptAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.set("1", "2")
		w.wait(settled)
		w.logs.TakeAll()
		w.set("", "12")
		w.wait(10 * time.Minute)
		line := w.line("answer kept")
		if line["level"] != "warn" || line["rule"] != "keep" || line["to_pool"] != "primary" {
			t.Errorf("%v", line)
		}
	})
}

// A start says nothing about members that are up, and warns of one that is down.
func TestLogOfAStart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target("2", refuses)
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Minute)
		for _, line := range w.logs.All() {
			if line.Level >= zap.InfoLevel && line.Message != "member down" {
				t.Errorf("%v", line)
			}
		}
		if line := w.line("member down"); line["why"] != "a round failed: connection refused" || line["from"] != "unknown" {
			t.Errorf("%v", line)
		}
		if line := w.line("member up"); line["level"] != "debug" {
			t.Errorf("%v", line)
		}
	})
}

func TestLogOfAWindow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(window(3, 2)), www("primary:1", "secondary:2")))
		w.wait(settled)
		w.target("1", hangs)
		w.wait(settled)
		if line := w.line("member down"); line["why"] != "1 of the last 3 rounds passed, 2 required: no reply in time" {
			t.Errorf("%v", line)
		}
	})
}

// A round that tips the window is not taken for one that decides alone.
func TestLogOfAWindowThatTips(t *testing.T) {
	inWorld(t, func(w *world) {
		round := 0
		w.target("1", func(ctx context.Context) probe.Result {
			if round++; round == 3 || round == 5 {
				return refuses(ctx)
			}
			return probe.Result{Outcome: probe.Pass}
		})
		w.apply(model(check(window(3, 2)), www("primary:1", "secondary:2")))
		w.wait(settled)
		if line := w.line("member down"); line["why"] != "1 of the last 3 rounds passed, 2 required: connection refused" {
			t.Errorf("%v", line)
		}
	})
}

// A reload that changes an answer says so, one that does not is silent.
func TestLogOfAReload(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(settled)
		w.apply(model(check(), www("primary:1", "secondary:2"), makeGroup(slowA, "primary:1")))
		w.wait(0)
		if n := w.logs.FilterMessage("answer changed").Len(); n != 0 {
			t.Errorf("%d lines", n)
		}
		w.apply(model(check(), www("primary:1", "primary:3", "secondary:2")))
		w.wait(0)
		line := w.line("answer changed")
		if diff := cmp.Diff([]any{"192.0.2.1", "192.0.2.3"}, line["new_answer"]); diff != "" {
			t.Error(diff)
		}
	})
}

// What happened is told when no result waits any longer, or else when too much
// would pile up.
func TestTellingWaitsForResults(t *testing.T) {
	for _, row := range []struct{ untold, waiting, told int }{{9, 50, 0}, {maxUntold + 9, 50, 16}} {
		synctest.Test(t, func(t *testing.T) {
			told, open, before := 0, row.waiting, -1
			m := newMonitor(Options{})
			d := newDecider(m, zap.NewNop())
			ctx, stop := context.WithCancel(t.Context())
			d.event = func(Event) {
				if told++; told == row.untold {
					stop()
				}
			}
			for range row.untold {
				d.note(func() Event { return Event{} })
			}
			for range row.waiting {
				go func() {
					d.calls <- func() {
						if open--; open == 0 {
							before = told
						}
					}
				}()
			}
			synctest.Wait()
			d.run(ctx)
			if before != row.told || told != row.untold {
				t.Errorf("%d told before the last of %d that waited, want %d; %d in all", before, row.waiting, row.told, told)
			}
		})
	}
}
