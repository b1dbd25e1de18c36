package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gslbd/health/probe"
	"gslbd/zone"

	"go.yaml.in/yaml/v3"
)

// option is one key of a section: the table of a section is a list of them.
type option struct {
	name string
	set  func(*reader, field) // checks the value and stores it
	sub  []option             // instead of set: the key holds a section
	env  bool                 // the environment may override it
	none bool                 // documented, but not available in this version
}

// field is one value in the configuration and where it came from.
type field struct {
	path string // "checks.web.port"
	line int    // of its key, or of the list item
	node *yaml.Node
	env  string // the variable it came from, "" for the file
}

// at gives the field of a key inside f.
func (f field) at(e entry) field {
	path := shown(e.name)
	if f.path != "" {
		path = f.path + "." + path
	}
	return field{path: path, line: e.key.Line, node: e.value}
}

// reader collects what is wrong while a configuration is read.
type reader struct {
	file, dir string
	problems  zone.Problems
	dropped   int
	variables map[string]string // of the environment, by the path of what they set
	seen      map[string]int    // the lines of the keys that the file holds, by path
	checks    map[string]bool   // names of the checks, sound or not
	uses      []use             // places that name checks
	combined  []combined        // checks made of others
}

// use is a place that names checks.
type use struct {
	at    field
	names []string
}

// settings is the table of the whole file.
func settings(c *Config) []option {
	return []option{
		{name: "listen", set: listenOn(&c.Listen), env: true},
		{name: "udp", sub: []option{
			{name: "workers", set: integer(&c.UDP.Workers, 0, 256), env: true},
			{name: "receive_buffer", set: size(&c.UDP.ReceiveBuffer, 4<<10, 512<<20), env: true},
			{name: "send_buffer", set: size(&c.UDP.SendBuffer, 4<<10, 512<<20), env: true},
		}},
		{name: "node", set: label(&c.Node), env: true},
		{name: "zones", set: zones(&c.Zones)},
		{name: "checks", set: checks(&c.Checks)},
		{name: "policies", set: policies(c.Policies)},
		{name: "watch", set: boolean(&c.Watch), env: true},
		{name: "admin", sub: []option{
			{name: "socket", set: socket(&c.Admin.Socket), env: true},
			{name: "listen", none: true}, {name: "tls", none: true}, {name: "token_file", none: true},
		}},
		{name: "log", sub: []option{
			{name: "level", set: choice(&c.Log.Level, same("debug", "info", "warn", "error")), env: true},
			{name: "format", set: choice(&c.Log.Format, same("auto", "console", "json")), env: true},
		}},
		{name: "health", sub: []option{
			{name: "max_in_flight", set: integer(&c.Health.MaxInFlight, 1, 100_000), env: true},
		}},
		{name: "tcp", sub: tcpLimitOptions(&c.TCP)},
		{name: "rate_limit", sub: rateLimitOptions(&c.RateLimit)},
		{name: "state_dir", set: directory(&c.StateDir), env: true},
		{name: "state_max_age", set: duration(&c.StateMaxAge, time.Second, 365*24*time.Hour), env: true},
		{name: "notify", none: true}, {name: "geoip", none: true},
		{name: "ecs", set: boolean(&c.ECS), env: true},
		{name: "dns", sub: serving(c)},
	}
}

// section reads a map of known keys and returns those that it holds.
func (r *reader) section(f field, table []option) map[string]field {
	given := map[string]field{}
	for _, e := range r.entries(f) {
		i := slices.IndexFunc(table, func(o option) bool { return o.name == e.name })
		if i < 0 {
			r.unknown(f.at(e), e.name, table)
			continue
		}
		at := f.at(e)
		given[e.name] = at
		r.note(at)
		switch {
		case table[i].none:
			r.fail(at, "leave it out", "not available in this version")
		case table[i].sub != nil:
			r.section(at, table[i].sub)
		default:
			table[i].set(r, at)
		}
	}
	return given
}

// note remembers that the file holds a key.
func (r *reader) note(f field) {
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	r.seen[f.path] = f.line
}

// unknown reports a key that the table lacks: one of another check type, a
// near miss, or else the list of what there is.
func (r *reader) unknown(f field, name string, table []option) {
	if types := typesWith(name); underCheck(f) && len(types) > 0 {
		r.fail(f, "leave it out, or choose such a type", "only a check of type %s has it", strings.Join(types, " or "))
		return
	}
	if underCheck(f) && slices.ContainsFunc(commonOptions(&probe.Check{}, &probe.Window{}), func(o option) bool { return o.name == name }) {
		r.fail(f, "leave it out; the checks in of have their own", "a combination has no probe of its own")
		return
	}
	var known, usable []string
	for _, o := range table {
		known = append(known, o.name)
		if !o.none {
			usable = append(usable, o.name)
		}
	}
	hint := didYouMean(name, known)
	if outer, inner, dotted := strings.Cut(name, "."); dotted {
		hint = fmt.Sprintf("dots do not nest: write %s: and, indented below it, %s:", shown(outer), shown(inner))
	} else if hint == "" {
		hint = "one of " + strings.Join(usable, ", ")
	}
	if blank := blankHint(name); blank != "" {
		hint = blank
	}
	r.fail(f, hint, "unknown key")
}

// underCheck reports whether a key is an option of a check.
func underCheck(f field) bool {
	return strings.Count(f.path, ".") == 2 && strings.HasPrefix(f.path, "checks.")
}

// typesWith lists the check types that have an option of this name.
func typesWith(name string) []string {
	var types []string
	for _, t := range checkTypes() {
		if slices.ContainsFunc(t.options(&probe.Check{}), func(o option) bool { return o.name == name }) {
			types = append(types, t.name)
		}
	}
	return types
}

// fail records an error about a field.
func (r *reader) fail(f field, hint, format string, args ...any) {
	if len(r.problems) < maxProblems { // those beyond are only counted
		if blank := blankHint(plainText(f)); blank != "" {
			hint = blank
		}
	}
	r.add(f, zone.Error, hint, fmt.Sprintf(format, args...))
}

// warn records something that is accepted but surely not meant.
func (r *reader) warn(f field, hint, format string, args ...any) {
	r.add(f, zone.Warning, hint, fmt.Sprintf(format, args...))
}

func (r *reader) add(f field, severity zone.Severity, hint, message string) {
	if len(r.problems) >= maxProblems {
		r.dropped++
		return
	}
	p := zone.Problem{File: r.file, Line: f.line, Severity: severity, Message: message, Hint: hint}
	switch {
	case f.env != "":
		p.File, p.Line, p.Message = "environment", 0, f.env+": "+message
	case f.path != "":
		p.Message = f.path + ": " + message
	}
	r.problems = append(r.problems, p)
}

// maxProblems bounds what one damaged file can print.
const maxProblems = 1000

// report gives the problems in the order of the file; those without a line
// come last.
func (r *reader) report() zone.Problems {
	slices.SortStableFunc(r.problems, func(a, b zone.Problem) int {
		if (a.Line == 0) != (b.Line == 0) {
			return b.Line - a.Line
		}
		return a.Line - b.Line
	})
	if r.dropped > 0 {
		r.problems = append(r.problems, zone.Problem{File: r.file, Severity: zone.Error,
			Message: fmt.Sprintf("%d more problems", r.dropped), Hint: "mend those above first"})
	}
	return r.problems
}

// didYouMean gives the hint that names the nearest known word, "" if none is.
func didYouMean(word string, known []string) string {
	if near := zone.Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}
