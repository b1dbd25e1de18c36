package config

import (
	"fmt"
	"strings"
	"testing"

	"gslbd/health/probe"

	"github.com/google/go-cmp/cmp"
)

// withCombinations is a file whose checks are a, b, d and the given lines.
func withCombinations(lines string) string {
	return oneZone + "checks:\n  a: { type: tcp }\n  b: { type: icmp }\n  d: { type: http }\n" + lines
}

func TestCombinations(t *testing.T) {
	c := mustLoad(t, withCombinations(`  every: { type: all, of: [ A, b ] }
  some: { type: any, of: "a, b, d" }
  two: { type: AT_LEAST, of: [ a, every, later ], n: 2 }
  one: { type: any, of: a }
  later: { type: all, of: [ one, d ] }
policies: { p: { check: two } }
`))
	want := map[string]probe.Check{
		"every": {Name: "every", Type: "all", Combination: &probe.Combination{Of: []string{"a", "b"}, Need: 2}},
		"some":  {Name: "some", Type: "any", Combination: &probe.Combination{Of: []string{"a", "b", "d"}, Need: 1}},
		"two":   {Name: "two", Type: "at_least", Combination: &probe.Combination{Of: []string{"a", "every", "later"}, Need: 2}},
		"one":   {Name: "one", Type: "any", Combination: &probe.Combination{Of: []string{"a"}, Need: 1}},
		"later": {Name: "later", Type: "all", Combination: &probe.Combination{Of: []string{"one", "d"}, Need: 2}},
	}
	for name, check := range want {
		if diff := cmp.Diff(check, c.Checks[name]); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestCombinationFaults(t *testing.T) {
	const none = "\n  hint: leave it out; the checks in of have their own"
	for _, row := range []struct{ lines, want string }{
		{"  c: { type: all }\n", "f:6: checks.c: all without of: it combines other checks\n  hint: of: [ web, ping ]"},
		{"  c: { type: any, of: [] }\n", "f:6: checks.c.of: an empty list\n  hint: name at least one check"},
		{"  c: { type: any, of: [ a, a ] }\n", "f:6: checks.c.of: check \"a\" is repeated\n  hint: name it once"},
		{"  c:\n    type: any\n    of: [ a, everi ]\n  every: { type: all, of: b }\n",
			"f:8: checks.c.of: unknown check \"everi\"\n  hint: did you mean \"every\"?"},
		{"  c: { type: any, of: [ a, none ] }\n",
			"f:6: checks.c.of: unknown check \"none\"\n  hint: leave it out; single records say check=none"},
		{"  c: { type: any, of: [ a ], n: 1 }\n",
			"f:6: checks.c.n: only a check of type at_least has it\n  hint: leave it out, or choose such a type"},
		{"  c: { type: at_least, of: [ a, b ] }\n",
			"f:6: checks.c: at_least without n\n  hint: n: 2, from 1 to the number of checks in of"},
		{"  c:\n    type: at_least\n    of: [ a, b ]\n    n: 3\n",
			"f:9: checks.c.n: 3 is more than the 2 checks in of\n  hint: 1 to 2"},
		{"  c: { type: at_least, of: [ a, b ], n: 0 }\n", "f:6: checks.c.n: 0 is out of range\n  hint: 1 to 100"},
		{"  c: { type: all, of: a, interval: 5s }\n", "f:6: checks.c.interval: a combination has no probe of its own" + none},
		{"  c: { type: all, of: a, fall: 2 }\n", "f:6: checks.c.fall: a combination has no probe of its own" + none},
		{"  c: { type: all, of: a, window: { size: 3, required: 2 } }\n",
			"f:6: checks.c.window: a combination has no probe of its own" + none},
		{"  c: { type: all, of: a, off: b }\n", "f:6: checks.c.off: unknown key\n  hint: did you mean \"of\"?"},
		{"  a2: { type: tcp, of: a }\n",
			"f:6: checks.a2.of: only a check of type all or any or at_least has it\n  hint: leave it out, or choose such a type"},
		{"  c: { type: all, of: [ a, c ] }\n",
			"f:6: checks.c.of: the check is made of itself: c of c\n  hint: take one of them out"},
		{"  c: { type: all, of: [ a, e ] }\n  e: { type: any, of: [ b, f ] }\n  f: { type: all, of: c }\n  g: { type: all, of: c }\n",
			"f:6: checks.c.of: the check is made of itself: c of e of f of c\n  hint: take one of them out"},
	} {
		if got := faults(t, withCombinations(row.lines)); got != row.want {
			t.Errorf("%s got\n%s\nwant\n%s", row.lines, got, row.want)
		}
	}
}

// Two circles are two problems; diamonds are none.
func TestCircles(t *testing.T) {
	const hint = "\n  hint: take one of them out"
	got := faults(t, withCombinations(`  c: { type: all, of: [ e ] }
  e: { type: all, of: [ c ] }
  g: { type: all, of: [ h, a ] }
  h: { type: all, of: [ g ] }
  top: { type: all, of: [ left, right ] }
  left: { type: any, of: [ base, a ] }
  right: { type: any, of: [ base, b ] }
  base: { type: all, of: [ a, b ] }
`))
	want := "f:6: checks.c.of: the check is made of itself: c of e of c" + hint +
		"\nf:8: checks.g.of: the check is made of itself: g of h of g" + hint
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// A tower of many combinations, and a circle of as many, are read in no time.
func TestManyCombinations(t *testing.T) {
	var lines strings.Builder
	const n = 3000
	for i := range n {
		fmt.Fprintf(&lines, "  l%d: { type: all, of: [ l%d, r%d ] }\n  r%d: { type: any, of: [ l%d, r%d ] }\n", i, i+1, i+1, i, i+1, i+1)
	}
	end := fmt.Sprintf("  l%d: { type: tcp }\n  r%d: { type: icmp }\n", n, n)
	if got := faults(t, withCombinations(lines.String()+end)); got != "" {
		t.Error(got)
	}
	end = fmt.Sprintf("  l%d: { type: all, of: l0 }\n  r%d: { type: icmp }\n", n, n)
	want := "f:6: checks.l0.of: the check is made of itself: l0 of l1 of l2 of l3 of l4 of l5 of l6 of l7 of … of l0\n  hint: take one of them out"
	if got := faults(t, withCombinations(lines.String()+end)); got != want {
		t.Error(got)
	}
}
