package config

import (
	"testing"

	"gslbd/zone/steer"

	"github.com/google/go-cmp/cmp"
)

func TestPolicies(t *testing.T) {
	for options, edit := range map[string]func(*steer.Policy){
		"": func(*steer.Policy) {},
		"steer: failover, members: All, failback: auto": func(*steer.Policy) {},
		"order: [ b, A ]":                     func(p *steer.Policy) { p.Order = []string{"b", "a"} },
		"order: primary":                      func(p *steer.Policy) { p.Order = []string{"primary"} },
		"order: [ 1, 2 ]":                     func(p *steer.Policy) { p.Order = []string{"1", "2"} },
		`order: "a, b"`:                       func(p *steer.Policy) { p.Order = []string{"a", "b"} },
		"fallback: Last":                      func(p *steer.Policy) { p.Fallback = "last" },
		"fallback: none":                      func(p *steer.Policy) { p.Fallback = "" },
		"fallback: None":                      func(p *steer.Policy) { p.Fallback = "" },
		`fallback: ""`:                        func(p *steer.Policy) { p.Fallback = "" },
		"fallback: null":                      func(p *steer.Policy) { p.Fallback = "" },
		"fallback:":                           func(p *steer.Policy) { p.Fallback = "" },
		"order: [ fallback ], fallback: none": func(p *steer.Policy) { p.Order, p.Fallback = []string{"fallback"}, "" },
		"max_answers: 3":                      func(p *steer.Policy) { p.MaxAnswers = 3 },
		"min_healthy: 2":                      func(p *steer.Policy) { p.MinHealthy = steer.Quorum{Count: 2} },
		`min_healthy: "50%"`:                  func(p *steer.Policy) { p.MinHealthy = steer.Quorum{Percent: 50} },
		"min_healthy: 100%":                   func(p *steer.Policy) { p.MinHealthy = steer.Quorum{Percent: 100} },
		"min_healthy: 1 %":                    func(p *steer.Policy) { p.MinHealthy = steer.Quorum{Percent: 1} },
		"unknown: down":                       func(p *steer.Policy) { p.UnknownAs = steer.Down },
		"unknown: up":                         func(*steer.Policy) {},
		"all_down: keep":                      func(*steer.Policy) {},
		"all_down: all":                       func(p *steer.Policy) { p.AllDown = steer.AllMembers },
		"all_down: primary":                   func(p *steer.Policy) { p.AllDown = steer.Primary },
		"all_down: nodata":                    func(p *steer.Policy) { p.AllDown = steer.NoData },
		"all_down: servfail":                  func(p *steer.Policy) { p.AllDown = steer.ServFail },
		"check: WEB":                          func(p *steer.Policy) { p.Checks = []string{"web"} },
		`check: "web, ping"`:                  func(p *steer.Policy) { p.Checks = []string{"web", "ping"} },
		"check: [ ping, web ]":                func(p *steer.Policy) { p.Checks = []string{"ping", "web"} },
	} {
		c := mustLoad(t, "policies:\n  P-1: { "+options+" }\nchecks: { web: { type: icmp }, ping: { type: icmp } }\n"+oneZone)
		want := steer.Failover()
		want.Name = "p-1"
		edit(&want)
		if diff := cmp.Diff(map[string]steer.Policy{"p-1": want, "failover": steer.Failover()}, c.Policies); diff != "" {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
	}
}

// TestPolicyFailover has the file override the built-in policy, and other
// policies start from the built-in defaults nevertheless.
func TestPolicyFailover(t *testing.T) {
	c := mustLoad(t, oneZone+"policies:\n  Failover: { order: [ a, b ], all_down: nodata }\n  other:\n")
	failover, other := steer.Failover(), steer.Failover()
	failover.Order, failover.AllDown, other.Name = []string{"a", "b"}, steer.NoData, "other"
	if diff := cmp.Diff(map[string]steer.Policy{"failover": failover, "other": other}, c.Policies); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPools(t *testing.T) {
	for value, want := range map[string]string{
		"[]":                  "an empty list\n  hint: name at least one pool",
		`""`:                  "\"\" is not a name of a pool\n  hint: letters, digits and hyphens, the first not a hyphen",
		`"a,"`:                "\"\" is not a name of a pool\n  hint: letters, digits and hyphens, the first not a hyphen",
		"[ a, -b ]":           "\"-b\" is not a name of a pool\n  hint: letters, digits and hyphens, the first not a hyphen",
		"[ a, b, a ]":         "pool \"a\" is repeated\n  hint: name it once",
		"[ a, A ]":            "pool \"a\" is repeated\n  hint: name it once",
		"[ primary, static ]": "\"static\" cannot name a pool\n  hint: choose another name",
		"none":                "\"none\" cannot name a pool\n  hint: choose another name",
		listOf(101, "p%d"):    "101 names in a list\n  hint: at most 100",
		"~":                   "nothing where a name of a pool belongs\n  hint: give one, or leave the key out",
	} {
		got := []string{"before"}
		if fault := apply(t, value, pools(&got)); fault != want || got[0] != "before" {
			t.Errorf("%s: got %v, %q, want %q", value, got, fault, want)
		}
	}
	var got []string
	if fault := apply(t, listOf(100, "p%d"), pools(&got)); fault != "" || len(got) != 100 {
		t.Errorf("100 pools: got %d, %q", len(got), fault)
	}
}

func TestFailback(t *testing.T) {
	for value, want := range map[string]string{
		"auto":         "",
		"AUTO":         "",
		"manual":       "\"manual\" is not available in this version\n  hint: the only value is auto",
		`"hold: 5m"`:   "\"hold\" is not available in this version\n  hint: the only value is auto",
		"{ hold: 5m }": "\"hold\" is not available in this version\n  hint: the only value is auto",
		"hold":         "\"hold\" is not available in this version\n  hint: the only value is auto",
		"autom":        "unknown value \"autom\"\n  hint: did you mean \"auto\"?",
		"5m":           "unknown value \"5m\"\n  hint: the only value is auto",
		"~":            "nothing where a word belongs\n  hint: give one, or leave the key out",
		"[ auto ]":     "a list where a word belongs\n  hint: a single value, without brackets, braces or lines of its own",
	} {
		if fault := apply(t, value, failback); fault != want {
			t.Errorf("%s: got %q, want %q", value, fault, want)
		}
	}
}

// TestReferences has a policy name only checks that stand somewhere in the
// file, be it further down or wrong in itself.
func TestReferences(t *testing.T) {
	for checks, want := range map[string]string{
		"{ web: { type: icmp }, api: { type: tcp } }": "",
		"{ WEB: { type: icmp }, Api: { type: tcp } }": "",
		"{ web: { type: icmp }, api: { type: ldapp } }": "f:3: checks.api.type: unknown value \"ldapp\"\n" +
			"  hint: one of icmp, tcp, tls, udp, http, dns, grpc, exec, file, all, any, at_least",
		"{ web: { type: icmp } }":                      "f:2: policies.p.check: unknown check \"api\"\n  hint: define it under checks:, or use one of web",
		"{ web: { type: icmp }, apis: { type: tcp } }": "f:2: policies.p.check: unknown check \"api\"\n  hint: did you mean \"apis\"?",
		"{}": "f:2: policies.p.check: unknown check \"web\"\n  hint: define it under checks:\n" +
			"f:2: policies.p.check: unknown check \"api\"\n  hint: define it under checks:",
	} {
		if got := faults(t, oneZone+"policies: { p: { check: [ web, api ] } }\nchecks: "+checks+"\n"); got != want {
			t.Errorf("%s: got %q, want %q", checks, got, want)
		}
	}
}
