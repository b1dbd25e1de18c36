package probe

import "slices"

// Combination are the options of types all, any and at_least: a check without
// a probe of its own.
type Combination struct {
	Of []string // names of checks, lower case, each once; they may be combinations
	// Need is how many of them must pass, 1 to len(Of): len(Of) for all, 1 for any.
	Need int
}

// Parts lists names and all that the combinations among them are made of, each
// once, parts before what they are part of. Names that checks lacks are kept.
// Of a combination that is part of itself the inner mention is passed over.
func Parts(checks map[string]Check, names []string) []string {
	if !slices.ContainsFunc(names, func(n string) bool { return checks[n].Combination != nil }) {
		return names
	}
	var order []string
	seen := map[string]bool{}
	var visit func(names []string)
	visit = func(names []string) {
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			if c := checks[name].Combination; c != nil {
				visit(c.Of)
			}
			order = append(order, name)
		}
	}
	visit(names)
	return order
}

// Leaves lists those of Parts that are no combinations: what is really probed.
func Leaves(checks map[string]Check, names []string) []string {
	return slices.DeleteFunc(Parts(checks, names), func(n string) bool { return checks[n].Combination != nil })
}
