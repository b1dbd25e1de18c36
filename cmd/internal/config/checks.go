package config

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslbd/health/probe"

	"go.yaml.in/yaml/v3"
)

// checkType describes a type of check: a new one is a new line in checkTypes.
type checkType struct {
	name    string
	options func(*probe.Check) []option // sets the defaults and gives the table of its own options
	finish  func(r *reader, f field, c *probe.Check, given map[string]field)
}

// checkTypes lists the types that are built.
func checkTypes() []checkType {
	return []checkType{
		{"icmp", icmpOptions, nil},
		{"tcp", tcpOptions, nil},
		{"tls", tlsOptions, finishTLS},
		{"udp", udpOptions, nil},
		{"http", httpOptions, finishHTTP},
		{"dns", dnsOptions, finishDNS},
		{"grpc", grpcOptions, finishGRPC},
		{"exec", execOptions, finishExec},
		{"file", fileOptions, finishFile},
		{"all", combineOptions, finishAll},
		{"any", combineOptions, finishAny},
		{"at_least", atLeastOptions, finishAtLeast},
	}
}

// commonOptions sets the defaults that all types share and gives their table.
func commonOptions(c *probe.Check, w *probe.Window) []option {
	c.Interval, c.Timeout, c.Fall, c.Rise = 10*time.Second, 5*time.Second, 2, 3
	return []option{
		{name: "type", set: func(*reader, field) {}}, // read before the table is known
		{name: "interval", set: duration(&c.Interval, 100*time.Millisecond, 24*time.Hour)},
		{name: "timeout", set: duration(&c.Timeout, 10*time.Millisecond, 5*time.Minute)},
		{name: "retries", set: integer(&c.Retries, 0, 10)},
		{name: "fall", set: integer(&c.Fall, 1, 100)},
		{name: "rise", set: integer(&c.Rise, 1, 100)},
		{name: "window", sub: []option{
			{name: "size", set: integer(&w.Size, 1, 100)},
			{name: "required", set: integer(&w.Required, 1, 100)},
		}},
		{name: "source", set: source(&c.Source)},
	}
}

// checks stores every check of the section.
func checks(dst *map[string]probe.Check) setter {
	return func(r *reader, f field) {
		*dst, r.checks = map[string]probe.Check{}, map[string]bool{}
		r.named(f, "check", func(name string, at field) {
			r.checks[name] = true
			r.note(at)
			if name == "none" {
				r.fail(at, "rename it", `the name "none" is taken: check=none means no check`)
				return
			}
			(*dst)[name] = r.check(name, at)
		})
	}
}

// check reads one check.
func (r *reader) check(name string, f field) probe.Check {
	t, ok := r.typeOf(f)
	if !ok {
		return probe.Check{}
	}
	c := probe.Check{Name: name, Type: t.name}
	w := probe.Window{}
	table := t.options(&c)
	if c.Combination != nil {
		table = append(table, option{name: "type", set: func(*reader, field) {}})
	} else {
		table = append(commonOptions(&c, &w), table...)
	}
	given := r.section(f, table)
	r.window(f, &c, w, given)
	if t.finish != nil {
		t.finish(r, f, &c, given)
	}
	return c
}

// typeOf finds the type of a check, which decides what its other keys mean.
func (r *reader) typeOf(f field) (checkType, bool) {
	types := checkTypes()
	var words []word[checkType]
	var names []string
	for _, t := range types {
		words = append(words, word[checkType]{t.name, t})
		names = append(names, t.name)
	}
	list := strings.Join(names, ", ")
	first := &reader{} // section reports the keys again
	for _, e := range first.entries(f) {
		if e.name == "type" {
			var t checkType
			if e.value.Kind == yaml.ScalarNode && strings.EqualFold(e.value.Value, "https") {
				r.fail(f.at(e), "type: http with scheme: https", `unknown value "https"`)
				return t, false
			}
			choice(&t, words)(r, f.at(e))
			return t, t.name != ""
		}
	}
	if r.entries(f); len(first.problems) == 0 {
		r.fail(f, "add a type, one of "+list, "a check without type")
	}
	return checkType{}, false
}

// window checks the rule over the last rounds, which replaces fall and rise.
func (r *reader) window(f field, c *probe.Check, w probe.Window, given map[string]field) {
	at, ok := given["window"]
	if !ok {
		return
	}
	for _, other := range []string{"fall", "rise"} {
		if double, both := given[other]; both {
			r.fail(double, "leave out one of them", "window takes the place of fall and rise")
		}
	}
	switch {
	case at.node.Kind != yaml.MappingNode && !isNull(at.node): // reported as it was read
	case r.seen[at.path+".size"] == 0 || r.seen[at.path+".required"] == 0:
		r.fail(at, "window: { size: 5, required: 3 }", "size and required belong together")
	case w.Size > 0 && w.Required > w.Size:
		r.fail(at, "required is 1 to size", "required %d is more than size %d", w.Required, w.Size)
	}
	c.Window, c.Fall, c.Rise = &w, 0, 0
}

// source stores the local addresses to probe from: one, or one of each family.
func source(dst *[]netip.Addr) setter {
	return func(r *reader, f field) {
		words, ok := r.words(f, "an IP address")
		if !ok {
			return
		}
		var addrs []netip.Addr
		for _, w := range words {
			addr, err := netip.ParseAddr(w)
			addr = addr.Unmap()
			switch {
			case err != nil:
				r.fail(f, "an IPv4 or IPv6 address of this machine", "%s is not an IP address", quote(w))
				return
			case addr.IsUnspecified() || addr.IsMulticast():
				r.fail(f, "an IPv4 or IPv6 address of this machine; leave it out for any", "%s cannot be probed from", addr)
				return
			case slices.ContainsFunc(addrs, func(a netip.Addr) bool { return a.Is4() == addr.Is4() }):
				r.fail(f, "one IPv4 and one IPv6 address at most", "%s is a second address of its family", addr)
				return
			}
			addrs = append(addrs, addr)
		}
		*dst = addrs
	}
}
