package health

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// group is what the status says of www/A.
func (w *world) group() GroupStatus {
	w.Helper()
	for _, g := range w.engine.Status().Groups {
		if g.Name == "www.example.com" && g.Type == "A" {
			return g
		}
	}
	w.Fatal("www.example.com/A is not in the status")
	panic("unreachable")
}

// member is what the status says of 192.0.2.N in www/A.
func (w *world) member(n string) MemberStatus {
	w.Helper()
	for _, p := range w.group().Pools {
		for _, m := range p.Members {
			if m.Data == "192.0.2."+n {
				return m
			}
		}
	}
	w.Fatalf("192.0.2.%s is not in the status", n)
	panic("unreachable")
}

// The whole document of a group in the middle of its life.
func TestStatusDocument(t *testing.T) {
	inWorld(t, func(w *world) {
		start := time.Now()
		at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
		g := www("primary:1", "secondary:2:web+alt", "secondary:3", "fallback:4:+")
		g.Members[1].ID, g.Members[1].Target.Port = "osaka", 8080
		g.Members[2].Weight = 0
		m := model(check(), g)
		m.Checks["alt"] = check(named("alt"), func(c *probe.Check) { c.Timeout = time.Second })
		w.at("192.0.2.2:8080", passes(500*time.Millisecond))
		w.target("3", passes(2*time.Second))
		w.apply(m)
		w.wait(time.Second)
		w.target("1", refuses) // fails at 5 and 15 s
		w.wait(15 * time.Second)
		half := 500 * time.Millisecond
		want := GroupStatus{
			Name: "www.example.com", Type: "A", Policy: "failover", State: "degraded", Pool: "secondary",
			Since: at(15), Reason: `pool "primary" is down (0 of 1 up); pool "secondary" answers`,
			Answer: []string{"192.0.2.2"}, TTL: 60,
			Pools: []PoolStatus{
				{"primary", "critical", []MemberStatus{{ID: "192.0.2.1", Data: "192.0.2.1", Target: "192.0.2.1:80",
					Weight: 1, State: "down", Since: at(15), LatencyMS: 1,
					Checks: []CheckStatus{{"web", "192.0.2.1:80", "down", 2, at(15), at(25), "connection refused", nil}}}}},
				{"secondary", "healthy", []MemberStatus{
					{ID: "osaka", Data: "192.0.2.2", Target: "192.0.2.2:8080", Weight: 1, State: "up", Usable: true,
						Since: at(0).Add(half), LatencyMS: 500, Checks: []CheckStatus{
							{"web", "192.0.2.2:8080", "up", 2, at(6), at(16), "", nil},
							{"alt", "192.0.2.2:8080", "up", 2, at(6), at(16), "", nil}}},
					{ID: "192.0.2.3", Data: "192.0.2.3", Target: "192.0.2.3:80", Weight: 0, State: "up",
						Since: at(2), LatencyMS: 2000, Checks: []CheckStatus{{"web", "192.0.2.3:80", "up", 2, at(9), at(19), "", nil}}},
				}},
				{"fallback", "no-health", []MemberStatus{{ID: "192.0.2.4", Data: "192.0.2.4", Target: "192.0.2.4",
					Weight: 1, State: "up", Usable: true, Since: at(0), Checks: []CheckStatus{}}}},
			},
		}
		if diff := cmp.Diff(want, w.group()); diff != "" {
			t.Error(diff)
		}
	})
}

// Lists are lists in JSON, also empty ones, and no override is null.
func TestStatusJSON(t *testing.T) {
	inWorld(t, func(w *world) {
		m := model(check(), www("primary:1:+"))
		p := steer.Failover()
		p.UnknownAs, p.AllDown = steer.Down, steer.NoData
		m.Policies["failover"] = p
		w.apply(m)
		text, err := json.Marshal(w.group())
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		member := doc["pools"].([]any)[0].(map[string]any)["members"].([]any)[0].(map[string]any)
		if member["override"] != nil || member["checks"] == nil || doc["answer"] == nil {
			t.Errorf("%s", text)
		}
	})
}

func TestStatusKeepsTheOrderOfTheModel(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), makeGroup(wwwAAAA, "primary:3"), makeGroup(slowA, "primary:1"), www("primary:1")))
		var names []string
		for _, g := range w.engine.Status().Groups {
			names = append(names, g.Name+"/"+g.Type)
		}
		if diff := cmp.Diff([]string{"www.example.com/AAAA", "slow.example.com/A", "www.example.com/A"}, names); diff != "" {
			t.Error(diff)
		}
	})
}

// A status that was taken does not change when the states do.
func TestStatusIsACopy(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		s := w.engine.decider
		var before snapshot
		w.engine.inLoop(func() { before = s.snapshot() })
		first := before.status()
		w.set("2", "1")
		w.wait(settled)
		if diff := cmp.Diff(first, before.status()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLive(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set("2", "1")
		w.apply(model(check(), www("primary:1", "secondary:2")))
		w.wait(time.Second)
		health, previous, ok := w.engine.Live(wwwA)
		if diff := cmp.Diff([]steer.Health{{State: steer.Down}, {State: steer.Up}}, health); diff != "" || !ok {
			t.Error(ok, diff)
		}
		if diff := cmp.Diff([]string{"192.0.2.2"}, previous); diff != "" {
			t.Error(diff)
		}
		if _, _, ok := w.engine.Live(zone.Key{}); ok {
			t.Error("an unknown group is live")
		}
	})
}
