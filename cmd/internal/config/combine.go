package config

import (
	"fmt"
	"slices"
	"strings"

	"gslbd/health/probe"
)

// combineOptions is the table of types all and any. What checks with a probe
// share does not apply to them.
func combineOptions(c *probe.Check) []option {
	c.Combination = &probe.Combination{}
	return []option{{name: "of", set: checkNames(&c.Combination.Of)}}
}

// atLeastOptions is the table of type at_least.
func atLeastOptions(c *probe.Check) []option {
	of := combineOptions(c)
	return append(of, option{name: "n", set: integer(&c.Combination.Need, 1, maxList)})
}

func finishAll(r *reader, f field, c *probe.Check, given map[string]field) {
	r.combination(f, c, given)
	c.Combination.Need = len(c.Combination.Of)
}

func finishAny(r *reader, f field, c *probe.Check, given map[string]field) {
	r.combination(f, c, given)
	c.Combination.Need = 1
}

func finishAtLeast(r *reader, f field, c *probe.Check, given map[string]field) {
	r.combination(f, c, given)
	at, ok := given["n"]
	size := len(c.Combination.Of)
	switch {
	case !ok:
		r.fail(f, "n: 2, from 1 to the number of checks in of", "at_least without n")
	case size > 0 && c.Combination.Need > size:
		r.fail(at, fmt.Sprintf("1 to %d", size), "%d is more than the %d checks in of", c.Combination.Need, size)
	}
}

// combination remembers where a combination stands, for the search for circles.
func (r *reader) combination(f field, c *probe.Check, given map[string]field) {
	at, ok := given["of"]
	if !ok {
		r.fail(f, "of: [ web, ping ]", "%s without of: it combines other checks", c.Type)
		return
	}
	r.combined = append(r.combined, combined{c.Name, at})
}

// combined is a combination and where the file says what it is made of.
type combined struct {
	name string
	of   field
}

// circles reports the combinations that are made of themselves, once for each
// part that closes a circle.
func (r *reader) circles(checks map[string]probe.Check) {
	places := map[string]field{}
	for _, c := range r.combined {
		places[c.name] = c.of
	}
	var way []string          // from the start to here
	state := map[string]int{} // of names: on the way, or with nothing more to find behind them
	const open, done = 1, 2
	var walk func(name string)
	walk = func(name string) {
		switch {
		case checks[name].Combination == nil || state[name] == done:
			return
		case state[name] == open:
			names := slices.Clone(way[slices.Index(way, name):])
			r.fail(places[name], "take one of them out", "the check is made of itself: %s", circle(append(names, name)))
			return
		}
		state[name] = open
		way = append(way, name)
		for _, part := range checks[name].Combination.Of {
			walk(part)
		}
		way = way[:len(way)-1]
		state[name] = done
	}
	for _, c := range r.combined {
		walk(c.name)
	}
}

// circle shows a way from a combination back to itself, cut where it is long.
func circle(names []string) string {
	if len(names) > 10 {
		names = slices.Concat(names[:8], []string{"…"}, names[len(names)-1:])
	}
	return strings.Join(names, " of ")
}
