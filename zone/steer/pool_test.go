package steer

import (
	"slices"
	"testing"
)

func TestUsable(t *testing.T) {
	optimist, pessimist := policy(), policy(pessimist)
	for _, c := range []struct {
		word                 string
		pool                 string
		optimist, pessimist_ bool
	}{
		{"p+", "primary", true, true},
		{"p-", "primary", false, false},
		{"p?", "primary", true, false},
		{"p-U", "primary", true, true},
		{"p?U", "primary", true, true},
		{"p-U0", "primary", true, true},
		{"p+D", "primary", false, false},
		{"p+R", "primary", false, false},
		{"p+0", "primary", false, false},
		{"f-", "fallback", true, true},
		{"f?", "fallback", true, true},
		{"f-D", "fallback", false, false},
		{"f+0", "fallback", false, false},
	} {
		g, health := scene(t, c.word)
		if got := Usable(&optimist, health[0], g.Members[0].Weight, c.pool); got != c.optimist {
			t.Errorf("%s, unknown: up: %v", c.word, got)
		}
		if got := Usable(&pessimist, health[0], g.Members[0].Weight, c.pool); got != c.pessimist_ {
			t.Errorf("%s, unknown: down: %v", c.word, got)
		}
	}
}

func TestPoolsAndUsableMembers(t *testing.T) {
	g, health := scene(t, "f+ x+ s+ p- s- p+")
	p := policy()
	if got := Pools(g, &p); !slices.Equal(got, []string{"primary", "secondary", "fallback", "stray"}) {
		t.Errorf("pools %q", got)
	}
	if got := UsableMembers(g, &p, health, "primary"); !slices.Equal(got, []int{5}) {
		t.Errorf("usable of primary: %v", got)
	}
	if got := UsableMembers(g, &p, health, "tertiary"); len(got) != 0 {
		t.Errorf("usable of tertiary: %v", got)
	}
}

func TestPoolState(t *testing.T) {
	for _, c := range []struct {
		scene  string
		policy Policy
		pool   string
		want   string
	}{
		{"p+ p+", policy(), "primary", Healthy},
		{"p+ p-", policy(), "primary", Degraded},
		{"p- p-", policy(), "primary", Critical},
		{"p+ p-", policy(atLeast(2)), "primary", Critical},
		{"p+ p+ p-", policy(atLeast(2)), "primary", Degraded},
		{"p? p?", policy(), "primary", Unprobed},
		{"p? p?", policy(pessimist), "primary", Unprobed},
		{"p? p+", policy(), "primary", Healthy},
		{"p? p+", policy(pessimist), "primary", Degraded},
		{"p? p-", policy(), "primary", Degraded},
		{"p+ p+R p+0", policy(), "primary", Healthy},
		{"p+R p+0", policy(), "primary", Critical},
		{"p-U", policy(), "primary", Healthy},
		{"p+D p+", policy(), "primary", Degraded},
		{"p+D", policy(), "primary", Critical},
		{"f-", policy(), "fallback", NoHealth},
	} {
		g, health := scene(t, c.scene)
		if got := PoolState(g, &c.policy, health, c.pool); got != c.want {
			t.Errorf("%s, %+v: %s, want %s", c.scene, c.policy.MinHealthy, got, c.want)
		}
	}
}

// The words are about the members as they were counted.
func TestPoolCount(t *testing.T) {
	for _, c := range []struct {
		scene  string
		policy Policy
		want   string
	}{
		{"p+ p- s+", policy(), "1 of 2 up"},
		{"p? p+", policy(), "1 of 2 up, 1 unknown"},
		{"p+ p+R p+0", policy(), "1 of 1 up, 2 drained"},
		{"p+ p? p-", policy(atLeast(3)), "1 of 3 up, 1 unknown, 3 needed"},
		{"s+", policy(), "0 of 0 up"},
	} {
		g, health := scene(t, c.scene)
		words := PoolCount(g, &c.policy, health, "primary")
		clear(health)
		if got := words(); got != c.want {
			t.Errorf("%s, %+v: %s, want %s", c.scene, c.policy.MinHealthy, got, c.want)
		}
	}
}

func TestGroupState(t *testing.T) {
	for _, c := range []struct {
		scene  string
		policy Policy
		want   string
	}{
		{"p+ s+", policy(), Healthy},
		{"p+ s-", policy(), Healthy},
		{"p+ p- s+", policy(), Degraded},
		{"p- s+", policy(), Degraded},
		{"p? s?", policy(), Degraded},
		{"s+ t+", policy(), Healthy},
		{"p- s-", policy(), Critical},
		{"p- s- f+", policy(), Critical},
		{"p- s-", policy(allDown(ServFail)), Critical},
	} {
		g, health := scene(t, c.scene)
		sel := Choose(g, &c.policy, health, nil)
		if got := GroupState(g, &c.policy, health, sel); got != c.want {
			t.Errorf("%s: %s, want %s", c.scene, got, c.want)
		}
	}
}

// Only an answer in which somebody is known to be up is kept later.
func TestProven(t *testing.T) {
	for word, want := range map[string]bool{
		"p+": true, "p? p+": true, "p?": false, "p-U": true, "p- s?": false, "p- s-": false, "p- f+": false,
	} {
		g, health := scene(t, word)
		p := policy()
		if got := Proven(Choose(g, &p, health, nil), health); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
	if Proven(Selection{Rule: RulePool, Members: []int{3}}, nil) {
		t.Error("proven without health")
	}
}

func TestStateNames(t *testing.T) {
	for s, want := range map[State]string{Unknown: "unknown", Up: "up", Down: "down", 9: "unknown"} {
		if s.String() != want {
			t.Errorf("%d: %s", s, s)
		}
	}
}
