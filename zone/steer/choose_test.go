package steer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gslbd/zone"
)

var poolOf = map[byte]string{'p': "primary", 's': "secondary", 't': "tertiary", 'f': "fallback", 'x': "stray"}

// scene makes a group of words like "p+" or "s-D0": the pool's first letter, the
// state (+ up, - down, ? unknown), then any of U (forced up), D (forced down),
// R (drained), 0 (weight 0). The members' data are a, b, c, …
func scene(t testing.TB, text string) (*zone.Group, []Health) {
	t.Helper()
	g := &zone.Group{TTL: 60, Policy: "failover"}
	var health []Health
	for i, word := range strings.Fields(text) {
		m := zone.Member{Data: string(rune('a' + i)), Pool: poolOf[word[0]], Weight: 1}
		h := Health{State: map[byte]State{'+': Up, '-': Down, '?': Unknown}[word[1]]}
		for _, c := range word[2:] {
			switch c {
			case 'U':
				h.Override = ForcedUp
			case 'D':
				h.Override = ForcedDown
			case 'R':
				h.Override = Drained
			case '0':
				m.Weight = 0
			default:
				t.Fatalf("scene %q: %q", text, c)
			}
		}
		g.Members = append(g.Members, m)
		health = append(health, h)
	}
	return g, health
}

// letters gives the data of the members, run together.
func letters(g *zone.Group, members []int) string {
	var b strings.Builder
	for _, i := range members {
		b.WriteString(g.Members[i].Data)
	}
	return b.String()
}

func policy(change ...func(*Policy)) Policy {
	p := Failover()
	for _, f := range change {
		f(&p)
	}
	return p
}

func allDown(a AllDown) func(*Policy)     { return func(p *Policy) { p.AllDown = a } }
func atLeast(n int) func(*Policy)         { return func(p *Policy) { p.MinHealthy = Quorum{Count: n} } }
func percent(n int) func(*Policy)         { return func(p *Policy) { p.MinHealthy = Quorum{Percent: n} } }
func order(names ...string) func(*Policy) { return func(p *Policy) { p.Order = names } }
func pessimist(p *Policy)                 { p.UnknownAs = Down }
func noFallback(p *Policy)                { p.Fallback = "" }

type choice struct {
	name     string
	policy   Policy
	scene    string
	previous string // letters of the records last answered, "" = none
	want     string // RULE POOL MEMBERS
	reason   string // "" = not looked at
}

var truthTable = []choice{
	{"up/up", policy(), "p+ s+", "", "pool primary a", `pool "primary" answers (1 of 1 up)`},
	{"up/down", policy(), "p+ s-", "", "pool primary a", `pool "primary" answers (1 of 1 up)`},
	{"down/up", policy(), "p- p- s+", "ab", "pool secondary c", `pool "primary" is down (0 of 2 up); pool "secondary" answers`},
	{"down/down after primary", policy(), "p- s-", "a", "keep primary a",
		`pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); the last good answer is kept`},
	{"down/down after secondary", policy(), "p- s-", "b", "keep secondary b", ""},
	{"down/down at a cold start", policy(), "p- s-", "", "keep-cold primary a",
		`pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); no last good answer to keep, pool "primary" answers regardless`},
}

var pools = []choice{
	{"only usable members of the pool", policy(), "p+ p- p+ s+", "", "pool primary ac", `pool "primary" answers (2 of 3 up)`},
	{"several secondaries", policy(), "p- s- s+ s+", "", "pool secondary cd", ""},
	{"third in order", policy(), "p- s- t+", "", "pool tertiary c",
		`pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); pool "tertiary" answers`},
	{"an absent pool is passed over", policy(), "p- t+", "", "pool tertiary b", `pool "primary" is down (0 of 1 up); pool "tertiary" answers`},
	{"order of the policy, not of the zone", policy(order("secondary", "primary")), "p+ s+", "", "pool secondary b", ""},
	{"no primary at all", policy(), "s+", "", "pool secondary a", `pool "secondary" answers (1 of 1 up)`},
	{"fallback asks no health", policy(), "p- s- f- f?", "a", "fallback fallback cd",
		`pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); fallback pool "fallback" answers`},
	{"fallback is not used before", policy(), "p- s+ f+", "", "pool secondary b", ""},
	{"fallback heeds the operator", policy(), "p- f+D f+R f+0 f-", "a", "fallback fallback e", ""},
	{"fallback set aside entirely", policy(), "p- f+D f+R", "a", "keep primary a", ""},
	{"a policy without fallback", policy(noFallback), "p- s-", "b", "keep secondary b", ""},
	{"unknown counts as up", policy(), "p? p- s+", "", "pool primary a", `pool "primary" answers (0 of 2 up, 1 unknown)`},
	{"unknown counts as down", policy(pessimist), "p? s+", "", "pool secondary b", `pool "primary" is down (0 of 1 up, 1 unknown); pool "secondary" answers`},
	{"all unknown and pessimistic", policy(pessimist), "p? s?", "", "keep-cold primary a", ""},
}

var minHealthy = []choice{
	{"count reached", policy(atLeast(2)), "p+ p+ p- s+", "", "pool primary ab", ""},
	{"count missed", policy(atLeast(2)), "p+ p- p- s+ s+", "", "pool secondary de",
		`pool "primary" is below min_healthy (1 of 3 up, 2 needed); pool "secondary" answers`},
	{"count above the pool's size", policy(atLeast(2)), "p+ s+ s+", "", "pool secondary bc", ""},
	{"half of four", policy(percent(50)), "p+ p+ p- p- s+", "", "pool primary ab", ""},
	{"less than half of four", policy(percent(50)), "p+ p- p- p- s+", "", "pool secondary e", ""},
	{"a percentage is rounded up", policy(percent(50)), "p+ p- p- s+", "", "pool secondary d", ""},
	{"1 % is at least one", policy(percent(1)), "p- p- s+", "", "pool secondary c", ""},
	{"drained ones do not raise the quorum", policy(percent(100)), "p+ p+R p+0 s+", "", "pool primary a", `pool "primary" answers (1 of 1 up, 2 drained)`},
	{"drained ones do not help to reach it", policy(atLeast(2)), "p+ p+R s+ s+", "", "pool secondary cd", ""},
	{"forced-up ones help", policy(percent(100)), "p+ p-U s+", "", "pool primary ab", ""},
	{"forced-down ones count as down", policy(percent(100)), "p+ p+D s+", "", "pool secondary c", ""},
	{"below quorum everywhere: the last answer, the down member too", policy(atLeast(2)), "p+ p- s-", "ab", "keep primary ab", ""},
}

var overrides = []choice{
	{"forced down", policy(), "p+D s+", "", "pool secondary b", `pool "primary" is down (0 of 1 up); pool "secondary" answers`},
	{"forced up", policy(), "p-U s+", "", "pool primary a", ""},
	{"forced up outranks weight 0", policy(), "p-U0 s+", "", "pool primary a", ""},
	{"drained", policy(), "p+R p+ s+", "", "pool primary b", ""},
	{"weight 0", policy(), "p+0 s+", "", "pool secondary b", `pool "primary" is down (0 of 0 up, 1 drained); pool "secondary" answers`},
	{"everything forced down still answers", policy(), "p+D s+D", "a", "keep-cold primary a", ""},
	{"everything drained answers the first pool", policy(), "p+R s+R", "", "keep-cold primary a", ""},
}

var lastResorts = []choice{
	{"keep: partly down pool", policy(), "p- p- s-", "b", "keep primary b", ""},
	{"keep: records of two pools", policy(), "p- s-", "ab", "keep  ab", ""},
	{"keep: a record left the zone", policy(), "p- p- s-", "az", "keep primary a", ""},
	{"keep: all records left the zone", policy(), "p- s-", "xyz", "keep-cold primary a", ""},
	{"keep: forced-down record", policy(), "p- p-D s-", "ab", "keep primary a", ""},
	{"keep: nothing but a forced-down record", policy(), "p-D s-", "a", "keep-cold secondary b", ""},
	{"keep: drained record stays", policy(), "p-R s-", "a", "keep primary a", ""},
	{"cold: drained ones left out", policy(), "p-0 p- s-", "", "keep-cold primary b", ""},
	{"cold: first pool all drained", policy(), "p-0 s-", "", "keep-cold secondary b", ""},
	{"all", policy(allDown(AllMembers)), "p- p- s-", "a", "all  abc",
		`pool "primary" is down (0 of 2 up); pool "secondary" is down (0 of 1 up); members of all pools answer regardless`},
	{"all, without forced-down and drained", policy(allDown(AllMembers)), "p- p-D s-R s-", "", "all  ad", ""},
	{"all, all forced down", policy(allDown(AllMembers)), "p-D s-D", "", "all  ab", ""},
	{"primary", policy(allDown(Primary)), "p- p- s-", "c", "primary primary ab",
		`pool "primary" is down (0 of 2 up); pool "secondary" is down (0 of 1 up); pool "primary" answers regardless`},
	{"primary, forced down", policy(allDown(Primary)), "p-D s-", "", "primary secondary b", ""},
	{"nodata", policy(allDown(NoData)), "p- s-", "a", "nodata  ",
		`pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); the answer is empty (NODATA)`},
	{"servfail", policy(allDown(ServFail)), "p- s-", "a", "servfail  ",
		`pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); the answer is SERVFAIL`},
	{"fallback comes before all_down", policy(allDown(ServFail)), "p- f-", "", "fallback fallback b", ""},
	{"a pool the policy does not know", policy(), "x+", "", "keep-cold stray a", ""},
	{"no member at all", policy(), "", "", "servfail  ", ""},
}

func TestChoose(t *testing.T) {
	for name, table := range map[string][]choice{"truth table": truthTable, "pools": pools,
		"min_healthy": minHealthy, "overrides": overrides, "all down": lastResorts} {
		for _, c := range table {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				g, health := scene(t, c.scene)
				var previous []string
				if c.previous != "" {
					previous = strings.Split(c.previous, "")
				}
				sel := Choose(g, &c.policy, health, previous)
				if got := fmt.Sprintf("%s %s %s", sel.Rule, sel.Pool, letters(g, sel.Members)); got != c.want {
					t.Errorf("got %q, want %q (%s)", got, c.want, sel.Reason)
				}
				if c.reason != "" && sel.Reason != c.reason {
					t.Errorf("reason %q, want %q", sel.Reason, c.reason)
				}
			})
		}
	}
}

func TestChooseCarriesTTLAndMaxAnswers(t *testing.T) {
	g, health := scene(t, "p+ p+ p+")
	p := policy(func(p *Policy) { p.MaxAnswers = 2 })
	sel := Choose(g, &p, health, nil)
	if sel.TTL != 60 || sel.MaxAnswers != 2 || len(sel.Members) != 3 {
		t.Errorf("got %+v", sel)
	}
}

// Missing health is unknown health.
func TestChooseWithoutHealth(t *testing.T) {
	g, _ := scene(t, "p+ s+")
	p := policy()
	if sel := Choose(g, &p, nil, nil); sel.Rule != RulePool || sel.Pool != "primary" {
		t.Errorf("got %+v", sel)
	}
}

func TestChooseAllocatesLittle(t *testing.T) {
	g, health := scene(t, "p- p- s+ s+")
	p := policy()
	previous := []string{"a", "b"}
	if n := testing.AllocsPerRun(100, func() { Choose(g, &p, health, previous) }); n > 3 {
		t.Errorf("%v allocations, want at most the members and the reason", n)
	}
}

// FuzzChoose makes a group, its health, its policy and its history out of bytes
// and holds what is true of every selection.
func FuzzChoose(f *testing.F) {
	for _, table := range [][]choice{truthTable, pools, minHealthy, overrides, lastResorts} {
		for i, c := range table {
			f.Add([]byte(c.scene), []byte{byte(i), byte(i * 7), byte(i * 13)}, c.previous)
		}
	}
	f.Fuzz(func(t *testing.T, members, options []byte, previous string) {
		g, health := fuzzGroup(members)
		p := fuzzPolicy(options)
		history := strings.Split(previous, "")
		sel := Choose(g, &p, health, history)
		if again := Choose(g, &p, health, history); !slices.Equal(sel.Members, again.Members) ||
			sel.Rule != again.Rule || sel.Pool != again.Pool || sel.Reason != again.Reason {
			t.Fatalf("not deterministic: %+v, then %+v", sel, again)
		}
		if empty := sel.Rule == RuleNoData || sel.Rule == RuleServFail; empty != (len(sel.Members) == 0) {
			t.Fatalf("%d members by rule %s", len(sel.Members), sel.Rule)
		}
		if !slices.IsSorted(sel.Members) || len(slices.Compact(slices.Clone(sel.Members))) != len(sel.Members) {
			t.Fatalf("members %v are not in zone order, each once", sel.Members)
		}
		checkMembers(t, g, &p, health, sel)
		GroupState(g, &p, health, sel)
		Proven(sel, health)
	})
}

func checkMembers(t *testing.T, g *zone.Group, p *Policy, health []Health, sel Selection) {
	exists := slices.ContainsFunc(Pools(g, p), func(pool string) bool {
		PoolState(g, p, health, pool)
		known := slices.Contains(p.Order, pool) || pool == p.Fallback
		return known && len(UsableMembers(g, p, health, pool)) > 0
	})
	for _, i := range sel.Members {
		if health[i].Override == ForcedDown && exists {
			t.Fatalf("member %d is forced down, though a usable one exists: %+v", i, sel)
		}
		if sel.Rule == RulePool && !Usable(p, health[i], g.Members[i].Weight, sel.Pool) {
			t.Fatalf("member %d is not usable: %+v", i, sel)
		}
	}
}

func fuzzGroup(members []byte) (*zone.Group, []Health) {
	g := &zone.Group{}
	var health []Health
	names := []string{"primary", "secondary", "tertiary", "fallback", "stray"}
	for i, b := range members[:min(len(members), 40)] {
		g.Members = append(g.Members, zone.Member{Data: string(rune('a' + i)), Pool: names[b%5], Weight: uint16(b >> 7)})
		health = append(health, Health{State: State(b / 5 % 3), Override: Override(b / 15 % 4)})
	}
	return g, health
}

func fuzzPolicy(options []byte) Policy {
	var o [3]byte
	copy(o[:], options)
	p := Failover()
	p.AllDown = AllDown(o[0] % 6)
	p.UnknownAs = State(o[0] / 6 % 3)
	p.MinHealthy = Quorum{Count: int(o[1]%4) - 1, Percent: int(o[1]/4) * 3}
	p.Order = p.Order[:o[2]%4]
	if o[2] > 127 {
		p.Fallback = ""
	}
	return p
}
