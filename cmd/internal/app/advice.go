package app

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"gslbd/cmd/internal/config"
	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// maxAdvice bounds the warnings of each zone: one slip in a check concerns
// every member that uses it.
const maxAdvice = 100

// advise warns of what loads and can never work in the groups of one zone.
func advise(cfg *config.Config, z *served) zone.Problems {
	var found zone.Problems
	for _, g := range z.groups {
		found = append(found, unusable(cfg.Policies[g.Policy], g)...)
		for _, m := range g.Members {
			found = append(found, sourceless(cfg.Checks, m)...)
			found = append(found, portless(cfg.Checks, m)...)
		}
	}
	if more := len(found) - maxAdvice; more > 0 {
		found = append(found[:maxAdvice], zone.Problem{File: z.source.File, Severity: zone.Warning,
			Message: fmt.Sprintf("%d more checks and pools that can never work", more), Hint: "mend those above first"})
	}
	return found
}

// unusable finds pools with fewer members than the policy asks for. One whose
// members are all drained was taken out on purpose.
func unusable(p steer.Policy, g *zone.Group) (found zone.Problems) {
	if p.MinHealthy.Percent > 0 {
		return nil
	}
	for _, pool := range p.Order {
		n := 0
		for _, m := range g.Members {
			if m.Pool == pool && m.Weight > 0 {
				n++
			}
		}
		if n == 0 || n >= p.MinHealthy.Count {
			continue
		}
		are := "is not drained"
		if n > 1 {
			are = "are not drained"
		}
		found = append(found, zone.Problem{File: g.File, Line: g.Line, Severity: zone.Warning,
			Message: fmt.Sprintf("pool %q of %s can never be usable: policy %q wants %d healthy members, and it has %d that %s",
				pool, g.Key, g.Policy, p.MinHealthy.Count, n, are),
			Hint: "lower min_healthy, write it as a percentage, or add members"})
	}
	return found
}

// sourceless finds checks of a member that have no local address of its
// target's family to probe from.
func sourceless(checks map[string]probe.Check, m zone.Member) (found zone.Problems) {
	for _, name := range probe.Leaves(checks, m.Checks) {
		c, is4 := checks[name], m.Target.Addr.Is4()
		source := c.Source
		connects := c.Exec == nil && c.File == nil
		if len(source) == 0 || !connects || slices.ContainsFunc(source, func(a netip.Addr) bool { return a.Is4() == is4 }) {
			continue
		}
		family := "IPv6"
		if is4 {
			family = "IPv4"
		}
		found = append(found, zone.Problem{File: m.File, Line: m.Line, Severity: zone.Warning,
			Message: fmt.Sprintf("check %q can never probe %s: its source has no %s address", name, m.Target.Addr, family),
			Hint:    fmt.Sprintf("add one to checks.%s.source, or leave source out", name)})
	}
	return found
}

// portless finds commands that are to be given a port which the target of a
// member does not name.
func portless(checks map[string]probe.Check, m zone.Member) (found zone.Problems) {
	for _, name := range probe.Leaves(checks, m.Checks) {
		if !checks[name].LacksPort(probe.Target{Addr: m.Target.Addr, Port: m.Target.Port}) {
			continue
		}
		found = append(found, zone.Problem{File: m.File, Line: m.Line, Severity: zone.Warning,
			Message: fmt.Sprintf("check %q can never probe %s: its command uses {port}, and the target has none", name, m.Target.Addr),
			Hint:    "write target=:PORT behind the record, or the port into the command"})
	}
	return found
}

// unused warns of checks that no member and no policy names, nor a combination
// that one of them names.
func unused(cfg *config.Config, zones []*served) (found zone.Problems) {
	named := map[string]bool{}
	use := func(checks []string) {
		for _, c := range checks {
			named[c] = true
		}
	}
	for _, p := range cfg.Policies {
		use(p.Checks)
	}
	for _, z := range zones {
		for _, g := range z.groups {
			for _, m := range g.Members {
				use(m.Checks)
			}
		}
	}
	use(probe.Parts(cfg.Checks, slices.Collect(maps.Keys(named))))
	line := func(name string) int { return cfg.Line("checks." + name) }
	names := slices.SortedFunc(maps.Keys(cfg.Checks), func(a, b string) int {
		return cmp.Or(cmp.Compare(line(a), line(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		if !named[name] {
			found = append(found, zone.Problem{File: cfg.File, Line: line(name), Severity: zone.Warning,
				Message: "checks." + name + ": no member and no policy uses it",
				Hint:    "write check=" + name + " behind a record, or leave it out"})
		}
	}
	return found
}
