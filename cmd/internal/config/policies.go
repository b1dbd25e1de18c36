package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gslbd/zone/steer"

	"go.yaml.in/yaml/v3"
)

// policyOptions is the table of a policy.
func policyOptions(p *steer.Policy) []option {
	var unused string
	return []option{
		{name: "steer", set: choice(&unused, same("failover"), "all", "weighted", "latency", "geo", "hash")},
		{name: "order", set: pools(&p.Order)},
		{name: "fallback", set: fallback(&p.Fallback)},
		{name: "members", set: choice(&unused, same("all"), "weighted", "latency", "hash")},
		{name: "max_answers", set: integer(&p.MaxAnswers, 0, 65535)},
		{name: "min_healthy", set: quorum(&p.MinHealthy)},
		{name: "unknown", set: choice(&p.UnknownAs, []word[steer.State]{{"up", steer.Up}, {"down", steer.Down}})},
		{name: "all_down", set: choice(&p.AllDown, []word[steer.AllDown]{{"keep", steer.Keep}, {"all", steer.AllMembers},
			{"primary", steer.Primary}, {"nodata", steer.NoData}, {"servfail", steer.ServFail}})},
		{name: "failback", set: failback},
		{name: "check", set: checkNames(&p.Checks)},
		{name: "weights", none: true}, {name: "geo", none: true}, {name: "subnets", none: true},
		{name: "ttl_unstable", none: true}, {name: "ecs", none: true},
	}
}

// policies adds the policies of the section to the built-in one. Each starts
// from the defaults of the built-in policy, not from what the file says of it.
func policies(dst map[string]steer.Policy) setter {
	return func(r *reader, f field) {
		r.named(f, "policy", func(name string, at field) {
			p := steer.Failover()
			p.Name = name
			given := r.section(at, policyOptions(&p))
			if slices.Contains(p.Order, p.Fallback) {
				where, ok := given["fallback"]
				if !ok {
					where = given["order"]
				}
				r.fail(where, "take it out of order, or write fallback: none", "pool %q is both in order and the fallback", p.Fallback)
			}
			dst[name] = p
		})
	}
}

// maxList bounds lists that a person writes.
const maxList = 100

// pools stores the pools of a policy, best first.
func pools(dst *[]string) setter {
	return func(r *reader, f field) {
		if list, ok := r.names(f, "pool"); ok {
			*dst = list
		}
	}
}

// names reads a list of different names of pools or checks.
func (r *reader) names(f field, what string) ([]string, bool) {
	list, ok := r.words(f, "a name of a "+what)
	switch {
	case ok && len(list) == 0:
		r.fail(f, "name at least one "+what, "an empty list")
		return nil, false
	case len(list) > maxList:
		r.fail(f, fmt.Sprintf("at most %d", maxList), "%d names in a list", len(list))
		return nil, false
	}
	for i, name := range list {
		switch {
		case !ok:
		case !isName(name):
			r.fail(f, nameHint, "%s is not a name of a %s", quote(name), what)
			return nil, false
		case slices.Contains(list[:i], name):
			r.fail(f, "name it once", "%s %q is repeated", what, name)
			return nil, false
		case what == "pool" && (name == "static" || name == "none"):
			r.fail(f, "choose another name", "%q cannot name a pool", name)
			return nil, false
		}
	}
	return list, ok
}

// fallback stores the name of the last-resort pool; "", none and null mean
// that there is none.
func fallback(dst *string) setter {
	return func(r *reader, f field) {
		if isNull(f.node) || f.node.Kind == yaml.ScalarNode && (f.node.Value == "" || strings.EqualFold(f.node.Value, "none")) {
			*dst = ""
			return
		}
		if list, ok := r.names(f, "pool"); ok && len(list) == 1 {
			*dst = list[0]
		} else if ok {
			r.fail(f, "name one pool, or none", "%d pools where one belongs", len(list))
		}
	}
}

// quorum stores a count of members, or a percentage of them.
func quorum(dst *steer.Quorum) setter {
	return func(r *reader, f field) {
		if digits, isPercent := strings.CutSuffix(f.node.Value, "%"); isPercent && f.node.Kind == yaml.ScalarNode {
			n, err := strconv.Atoi(strings.TrimSpace(digits))
			switch {
			case err != nil:
				r.fail(f, "1% to 100%, or a count of members", "%s is not a percentage", quote(f.node.Value))
			case n < 1 || n > 100:
				r.fail(f, "1% to 100%", "%s is out of range", f.node.Value)
			default:
				*dst = steer.Quorum{Percent: n}
			}
			return
		}
		q := steer.Quorum{Count: dst.Count}
		integer(&q.Count, 1, 65535)(r, f)
		*dst = q
	}
}

// failback takes "auto"; the other values, one of them a map, are not built.
func failback(r *reader, f field) {
	s := f.node.Value
	if f.node.Kind == yaml.MappingNode {
		s = "hold"
	}
	if strings.HasPrefix(strings.ToLower(s), "hold") {
		r.fail(f, "the only value is auto", `"hold" is not available in this version`)
		return
	}
	choice(&s, same("auto"), "manual")(r, f)
}

// checkNames stores the default checks of a policy's members; whether they
// exist is known at the end.
func checkNames(dst *[]string) setter {
	return func(r *reader, f field) {
		list, ok := r.names(f, "check")
		if !ok {
			return
		}
		*dst = list
		r.uses = append(r.uses, use{f, list})
	}
}

// references reports names of checks that do not exist.
func (r *reader) references() {
	var known []string
	for name := range r.checks {
		known = append(known, name)
	}
	slices.Sort(known)
	for _, u := range r.uses {
		for _, name := range u.names {
			if r.checks[name] {
				continue
			}
			hint := didYouMean(name, known)
			switch {
			case name == "none":
				hint = "leave it out; single records say check=none"
			case hint == "" && len(known) == 0:
				hint = "define it under checks:"
			case hint == "":
				hint = "define it under checks:, or use one of " + strings.Join(known, ", ")
			}
			r.fail(u.at, hint, "unknown check %q", name)
		}
	}
}
