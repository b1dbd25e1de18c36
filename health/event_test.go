package health

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gslbd/health/probe"
)

// list keeps the events of an engine.
type list struct {
	mu   sync.Mutex
	kept []Event
}

func (l *list) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, e)
}

// take gives what came since the last call, as it was told to the world.
func (l *list) take() (events []Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	events, l.kept = l.kept, nil
	return events
}

// inEventful is inWorld with a list of the events.
func inEventful(t *testing.T, test func(w *world, events *list)) {
	t.Helper()
	events := new(list)
	inWorldWith(t, Options{Event: events.add}, func(w *world) { test(w, events) })
}

// of fills in what all events of www/A have in common.
func of(at time.Time, events ...Event) []Event {
	for i := range events {
		e := &events[i]
		e.Time, e.Zone, e.Name, e.Type = at, "example.com", "www.example.com", "A"
	}
	return events
}

func (w *world) same(want, got []Event) {
	w.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Event{})); diff != "" {
		w.Errorf("(- wanted, + told)\n%s", diff)
	}
}

// From the first result to a failover and back: every state change of member,
// pool and group, with its cause and the answers.
func TestEventsOfAFailover(t *testing.T) {
	inEventful(t, func(w *world, events *list) {
		start := time.Now()
		at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
		w.target("2", passes(time.Second)) // after the other
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(2 * time.Second)
		up := Event{Kind: EventMember, From: "unknown", To: "up", Cause: "a round passed", Check: "web",
			Pool: "primary", Member: "192.0.2.1", Target: "192.0.2.1:80"}
		second := up
		second.Pool, second.Member, second.Target = "secondary", "192.0.2.2", "192.0.2.2:80"
		primary := Event{Kind: EventPool, Pool: "primary", From: "unknown", To: "healthy", Cause: "1 of 1 up"}
		secondary := primary
		secondary.Pool = "secondary"
		group := Event{Kind: EventGroup, From: "degraded", To: "healthy", Pool: "primary", Policy: "failover", Rule: "pool",
			Cause: `pool "primary" answers (1 of 1 up)`}
		w.same(append(of(at(0), up, primary, group), of(at(1), second, secondary)...), events.take())

		w.target("1", refuses)
		w.wait(20 * time.Second) // rounds fail at 5 and 15 s
		down := up
		down.From, down.To, down.Cause = "up", "down", "2 rounds in a row failed: connection refused"
		primary.From, primary.To, primary.Cause = "healthy", "critical", "0 of 1 up"
		group.From, group.To, group.OldPool, group.Pool = "healthy", "degraded", "primary", "secondary"
		group.OldAnswer, group.NewAnswer = []string{"192.0.2.1"}, []string{"192.0.2.2"}
		group.Cause = `pool "primary" is down (0 of 1 up); pool "secondary" answers`
		w.same(of(at(15), down, primary, group), events.take())

		w.target("1", nil)
		w.wait(30 * time.Second) // rounds pass at 25, 35 and 45 s
		down.From, down.To, down.Cause = "down", "up", "3 rounds in a row passed"
		primary.From, primary.To, primary.Cause = "critical", "healthy", "1 of 1 up"
		group.From, group.To, group.OldPool, group.Pool = "degraded", "healthy", "secondary", "primary"
		group.OldAnswer, group.NewAnswer = group.NewAnswer, group.OldAnswer
		group.Cause = `pool "primary" answers (1 of 1 up)`
		w.same(of(at(45), down, primary, group), events.take())
	})
}

// A pool that is healthy though not every member is up says why.
func TestEventsOfAPoolNameTheUnknown(t *testing.T) {
	inEventful(t, func(w *world, events *list) {
		w.target("2", passes(time.Second)) // after the other
		w.apply(model(check(), www("primary:1", "primary:2")))
		w.wait(2 * time.Second)
		var causes []string
		for _, e := range events.take() {
			if e.Kind == EventPool {
				causes = append(causes, e.To+": "+e.Cause)
			}
		}
		if want := []string{"healthy: 1 of 2 up, 1 unknown"}; !slices.Equal(causes, want) {
			t.Errorf("pools %q, want %q", causes, want)
		}
	})
}

// Everything down: the group turns critical and the answer is told as it was
// before; the states of pools that already were critical are not told again.
func TestEventsOfAKeptAnswer(t *testing.T) {
	inEventful(t, func(w *world, events *list) {
		w.apply(model(check(), www("primary:1", "primary:3", "secondary:2")))
		w.wait(settled)
		events.take()
		w.set("", "123")
		w.wait(10 * time.Minute)
		var words []string
		for _, e := range events.take() {
			words = append(words, e.Kind+" "+e.Pool+e.Member+" "+e.From+"-"+e.To)
			if e.Kind == EventGroup && e.To == "critical" {
				if diff := cmp.Diff([2][]string{e.OldAnswer, e.NewAnswer}, [2][]string{e.OldAnswer, e.OldAnswer}); diff != "" || e.Rule != "keep" {
					t.Errorf("rule %s: %s", e.Rule, diff)
				}
			}
		}
		if n := len(words); n < 7 || words[n-1][:6] != "group " {
			t.Fatalf("%q", words)
		}
		counts := map[string]int{}
		for _, word := range words {
			counts[word]++
		}
		for word, n := range counts {
			if n != 1 {
				t.Errorf("%d times %q", n, word)
			}
		}
		for _, word := range []string{"pool primary degraded-critical", "pool secondary healthy-critical"} {
			if counts[word] != 1 {
				t.Errorf("not told: %q of %q", word, words)
			}
		}
	})
}

// Faults of our own are told once, with their reason, and once when they are over.
func TestEventsOfAFault(t *testing.T) {
	inEventful(t, func(w *world, events *list) {
		start := time.Now()
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		events.take()
		w.target("1", lacksPermission)
		w.wait(time.Minute)
		w.target("1", nil)
		w.wait(10 * time.Second)
		fault := Event{Kind: EventFault, Check: "web", Target: "192.0.2.1:80", Members: 1}
		begun, over := fault, fault
		begun.Time, begun.To, begun.Cause = start.Add(5*time.Second), "begun", "no permission"
		over.Time, over.To = start.Add(65*time.Second), "over"
		w.same([]Event{begun, over}, events.take())
	})
}

// A reload tells which answers it changed, and members that get a state by what
// another probe of theirs has found already; one that changes nothing is silent.
func TestEventsOfAReload(t *testing.T) {
	inEventful(t, func(w *world, events *list) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(settled)
		events.take()
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(0)
		w.same(nil, events.take())
		now := time.Now()
		w.apply(model(check(), www("secondary:1", "primary:2")))
		w.wait(0)
		w.same(of(now, Event{Kind: EventGroup, From: "healthy", To: "healthy", Policy: "failover", Rule: "pool",
			OldPool: "primary", Pool: "primary", OldAnswer: []string{"192.0.2.1"}, NewAnswer: []string{"192.0.2.2"},
			Cause: `pool "primary" answers (1 of 1 up)`}), events.take())
		other := makeGroup(slowA, "primary:1")
		w.apply(model(check(), www("secondary:1", "primary:2"), other))
		w.wait(0)
		want := of(now, Event{Kind: EventMember, From: "unknown", To: "up", Pool: "primary", Member: "192.0.2.1",
			Target: "192.0.2.1:80", Cause: "what its checks had found before the reload"})
		want[0].Name = "slow.example.com"
		w.same(want, events.take())
		w.target("1", refuses)
		w.wait(settled)
		events.take()
		w.apply(model(check(), www("secondary:1:+", "primary:2:+"), other)) // no checks
		w.wait(0)
		first, second := Event{Kind: EventMember, From: "down", To: "up", Pool: "secondary", Member: "192.0.2.1",
			Target: "192.0.2.1", Cause: "it has no check since the reload"},
			Event{Kind: EventPool, From: "critical", To: "healthy", Pool: "secondary", Cause: "1 of 1 up"}
		w.same(of(time.Now(), first, second), events.take())
	})
}

// Telling is over before Stop returns, and what waits is told in the order in
// which it happened.
func TestEventsAreToldBeforeTheEnd(t *testing.T) {
	inEventful(t, func(w *world, events *list) {
		w.apply(model(check(), alike(500)...))
		w.wait(time.Second)
		events.take()
		w.at("192.0.2.1:80", func(context.Context) probe.Result {
			return probe.Result{Outcome: probe.Fail, Reason: "connection refused"}
		})
		w.wait(time.Minute)
		w.engine.Stop()
		told := events.take()
		if len(told) != 1500 {
			t.Fatalf("%d events, want member, pool and group of 500", len(told))
		}
		for i, e := range told[:500] {
			if e.Kind != EventMember || e.To != "down" {
				t.Fatalf("event %d: %+v", i, e)
			}
		}
	})
}

// A fault ends under the name under which it began, also when a reload renamed
// the check or took the probe away, as one that mends an option does.
func TestEventsOfAFaultOverReloads(t *testing.T) {
	inEventful(t, func(w *world, events *list) {
		apply := func(name string, timeout time.Duration) {
			w.apply(model(check(named(name), within(timeout)), www("primary:1:"+name, "secondary:2:"+name)))
		}
		w.target("1", lacksPermission)
		apply("web", time.Second)
		w.wait(time.Second)
		apply("site", time.Second)
		w.target("1", nil)
		w.wait(10 * time.Minute)
		w.target("1", lacksPermission)
		w.wait(10 * time.Minute)
		w.target("1", nil)
		apply("site", 2*time.Second)
		w.wait(time.Minute)
		var told []string
		for _, e := range events.take() {
			if e.Kind == EventFault {
				told = append(told, fmt.Sprintf("%s %s %s %d: %s", e.To, e.Check, e.Target, e.Members, e.Cause))
			}
		}
		if diff := cmp.Diff([]string{
			"begun web 192.0.2.1:80 1: no permission", "over web 192.0.2.1:80 1: ",
			"begun site 192.0.2.1:80 1: no permission", "over site 192.0.2.1:80 1: the reload took its probe away",
		}, told); diff != "" {
			t.Error(diff)
		}
	})
}
