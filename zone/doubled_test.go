package zone

import (
	"strings"
	"testing"
)

// TestUndotted: a name is doubled only when the zone's whole name stands twice
// at its end, on label boundaries.
func TestUndotted(t *testing.T) {
	for _, c := range []struct{ zone, name, want string }{
		{"example.com.", "www.example.com.example.com.", "www.example.com."},
		{"example.com.", "example.com.example.com.", "example.com."},
		{"example.com.", "www.example.com.", ""},
		{"example.com.", "example.com.", ""},
		{"example.com.", "badexample.com.example.com.", ""},
		{"example.com.", "www.example.org.", ""},
		{"example.com.", "", ""},
		{"example.com.", "com.example.com.", ""},
		{"test.", "www.test.test.", ""}, // such names may well be meant
		{".", "www.example.", ""},
		{"a.b.c.", "x.a.b.c.a.b.c.a.b.c.", "x.a.b.c.a.b.c."},
	} {
		a := &assembly{loader: &loader{zone: c.zone}}
		if got := a.undotted(c.name); got != c.want {
			t.Errorf("zone %s, name %s: got %q, want %q", c.zone, c.name, got, c.want)
		}
	}
}

// TestForeignComment: the mark is named only where the line is no record, and a
// name that begins with it stays legal.
func TestForeignComment(t *testing.T) {
	const head = "$ORIGIN example.com.\n$TTL 60\n@ SOA ns1 host 1 3600 600 604800 60\n@ NS ns1\nns1 A 192.0.2.53\n"
	for _, c := range []struct{ line, want string }{
		{"# remark", "a line that begins with # is no record"},
		{"\t# remark", "a line that begins with # is no record"},
		{"// remark", "a line that begins with // is no record"},
		{"#1 A 192.0.2.1", ""},
		{"# A 192.0.2.1", ""},
		{"www A # 192.0.2.1", `"# 192.0.2.1" is not an IPv4 address`},
		{"www A 192.0.2.1 @primary", `bad A data "192.0.2.1 @primary"`},
		{`www TXT "see @home"`, ""},
		{"www TXT see @home", ""},
	} {
		_, problems := Load(Source{Name: "example.com", File: write(t, head+c.line+"\n")}, Vocabulary{})
		got := ""
		if len(problems) > 0 {
			got = problems[0].Message
		}
		if got != c.want && !(c.want != "" && strings.HasPrefix(got, c.want)) {
			t.Errorf("%q: got %q, want %q", c.line, got, c.want)
		}
	}
}
