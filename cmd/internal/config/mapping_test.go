package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// TestEntries holds the order and the precedence of keys.
func TestEntries(t *testing.T) {
	const maps = "x: &x { a: x1, b: x2 }\ny: &y { b: y1, c: y2, <<: *x }\nm: "
	for _, test := range []struct{ text, want, fault string }{
		{text: "{}"},
		{text: "~"},
		{text: "{ b: 1, a: 2 }", want: "b=1 a=2"},
		{text: "{ B: 1, a: 2 }", want: "b=1 a=2"},
		{text: "{ <<: *x, b: 1 }", want: "b=1 a=x1"},
		{text: "{ b: 1, <<: *x }", want: "b=1 a=x1"},
		{text: "{ B: 1, <<: *x }", want: "b=1 a=x1"},
		{text: "{ <<: [ *x, *y ] }", want: "a=x1 b=x2 c=y2"},
		{text: "{ <<: [ *y, *x ] }", want: "b=y1 c=y2 a=x1"},
		{text: "{ <<: *y }", want: "b=y1 c=y2 a=x1"},
		{text: "{ <<: { d: 1 } }", want: "d=1"},
		{text: "{ \"<<\": 1 }", want: "<<=1"},
		{text: "*y", want: "b=y1 c=y2 a=x1"},
		{text: "{ 1: a, true: b, ~: c }", want: "1=a true=b ~=c"},
		{text: "{ a: 1, a: 2 }", want: "a=1", fault: "f:3: m.a: repeated; first given on line 3\n  hint: keep one of them"},
		{text: "{ a: 1, A: 2 }", want: "a=1", fault: "f:3: m.a: repeated; first given on line 3\n  hint: keep one of them"},
		{text: "{ <<: { d: 1, D: 2 } }", want: "d=1", fault: "f:3: m.d: repeated; first given on line 3\n  hint: keep one of them"},
		{text: "{ <<: 1 }", fault: "f:3: m: 1 cannot be merged\n  hint: <<: takes an alias of a map, or a list of them"},
		{text: "{ <<: [ *x, 2 ] }", want: "a=x1 b=x2", fault: "f:3: m: 2 cannot be merged\n  hint: <<: takes an alias of a map, or a list of them"},
		{text: "{ <<: ~, a: 1 }", want: "a=1", fault: "f:3: m: nothing cannot be merged\n  hint: <<: takes an alias of a map, or a list of them"},
		{text: "{ [ a ]: 1, b: 2 }", want: "b=2", fault: "f:3: m: a list as a key\n  hint: a key is a plain word"},
		{text: "{ ? { a: b } : 1 }", fault: "f:3: m: a map as a key\n  hint: a key is a plain word"},
		{text: "[ a ]", fault: "f:3: m: a list where a map of keys belongs\n  hint: indent its keys below it"},
		{text: "a", fault: "f:3: m: \"a\" where a map of keys belongs\n  hint: indent its keys below it"},
	} {
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(maps+test.text+"\n"), &document); err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		root := document.Content[0].Content
		r := &reader{file: "f"}
		var got []string
		for _, e := range r.entries(field{path: "m", line: 3, node: target(root[len(root)-1])}) {
			got = append(got, e.name+"="+e.value.Value)
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.text, diff)
		}
		if fault := r.problems.Error(); fault != test.fault {
			t.Errorf("%s: got %q, want %q", test.text, fault, test.fault)
		}
	}
}

func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "web": true, "web-2": true, "2": true, "2-web": true, "a-": true, "a--b": true,
		"": false, "-a": false, "web_2": false, "web.2": false, "Web": false, "wéb": false, "a b": false, "a\n": false, "@a": false,
	} {
		if got := isName(name); got != want {
			t.Errorf("%q: got %v", name, got)
		}
	}
}

// TestProblemOrder has problems in the order of the file, those without a line
// last, whatever the order in which they were found.
func TestProblemOrder(t *testing.T) {
	r := &reader{file: "f"}
	for _, line := range []int{0, 9, 3, 3, 12} {
		r.fail(field{path: "p", line: line}, "h", "%d", len(r.problems))
	}
	r.fail(field{path: "p", line: 1, env: "V"}, "h", "5")
	r.warn(field{line: 2}, "h", "6")
	var got []string
	for _, p := range r.report() {
		got = append(got, p.String())
	}
	want := []string{"f:2: warning: 6", "f:3: p: 2", "f:3: p: 3", "f:9: p: 1", "f:12: p: 4", "f: p: 0", "environment: V: 5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestUnknownKeys holds what is said of a key that a section does not have.
func TestUnknownKeys(t *testing.T) {
	for text, want := range map[string]string{
		"zoness: []":          "f:2: zoness: unknown key\n  hint: did you mean \"zones\"?",
		"Check: {}":           "f:2: check: unknown key\n  hint: did you mean \"checks\"?",
		"statedir: /x":        "f:2: statedir: unknown key\n  hint: did you mean \"state_dir\"?",
		"xyzzy: 1":            "f:2: xyzzy: unknown key\n  hint: one of listen, udp, node, zones, checks, policies, watch, admin, log, health, tcp, rate_limit, state_dir, state_max_age, ecs, dns",
		"\"\": 1":             "f:2: \"\": unknown key\n  hint: one of listen, udp, node, zones, checks, policies, watch, admin, log, health, tcp, rate_limit, state_dir, state_max_age, ecs, dns",
		"colour: 1":           "f:2: colour: unknown key\n  hint: one of listen, udp, node, zones, checks, policies, watch, admin, log, health, tcp, rate_limit, state_dir, state_max_age, ecs, dns",
		"admin: { sock: 1 }":  "f:2: admin.sock: unknown key\n  hint: did you mean \"socket\"?",
		"log.format: json":    "f:2: log.format: unknown key\n  hint: dots do not nest: write log: and, indented below it, format:",
		"health: { port: 1 }": "f:2: health.port: unknown key\n  hint: one of max_in_flight",
		"checks: { c: { type: icmp, sizes: 1 } }":   "f:2: checks.c.sizes: unknown key\n  hint: did you mean \"size\"?",
		"checks: { c: { type: tcp, count: 1 } }":    "f:2: checks.c.count: only a check of type icmp has it\n  hint: leave it out, or choose such a type",
		"checks: { c: { type: tcp, headers: {} } }": "f:2: checks.c.headers: only a check of type http has it\n  hint: leave it out, or choose such a type",
		"checks: { c: { type: http, send: x } }":    "f:2: checks.c.send: only a check of type tcp or udp has it\n  hint: leave it out, or choose such a type",
		"checks: { c: { type: http, window: { port: 1 } } }": "f:2: checks.c.window.port: unknown key\n  hint: one of size, required\n" +
			"f:2: checks.c.window: size and required belong together\n  hint: window: { size: 5, required: 3 }",
		"policies: { p: { max_answer: 1 } }": "f:2: policies.p.max_answer: unknown key\n  hint: did you mean \"max_answers\"?",
	} {
		got := faults(t, oneZone+text+"\n")
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
