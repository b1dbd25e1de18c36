package config

import (
	"fmt"
	"strings"
	"testing"

	"gslbd/zone"
)

// faults loads a text under the name "f" and returns what is said of it.
func faults(t *testing.T, text string) string {
	t.Helper()
	_, problems := load("f", []byte(text))
	wellFormed(t, problems)
	return problems.Error()
}

// TestSyntaxLines holds syntax errors to the line where an operator finds them,
// which the library's own message often misses by one.
func TestSyntaxLines(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"[", "f:1: not valid YAML: did not find expected node content"},
		{"a: [ b\n", "f:2: not valid YAML: did not find expected ',' or ']'"},
		{"x: 1\na: [ b\n", "f:2: not valid YAML: did not find expected ',' or ']'"},
		{"x: 1\ny: 2\na: { b\n", "f:3: not valid YAML: did not find expected ',' or '}'"},
		{"x: 1\n\ta: 1\n", "f:2: not valid YAML: found a tab character that violates indentation"},
		{"x: 1\ny: @a\n", "f:2: not valid YAML: found character that cannot start any token"},
		{"x: 1\ny: \"a\n", "f:2: not valid YAML: found unexpected end of stream"},
		{"x: 1\ny: a: b\n", "f:2: not valid YAML: mapping values are not allowed in this context"},
		{"x: 1\ny\nz: 1\n", "f:2: not valid YAML: could not find expected ':'"},
		{"x:\n  - a\n  b: c\n", "f:2: not valid YAML: did not find expected '-' indicator"},
		{"x: 1\ny: \"\\q\"\n", "f:2: not valid YAML: found unknown escape character"},
		{"x: *y\n", "f:1: not valid YAML: unknown anchor 'y' referenced"},
		{"x: 1\ny:\n  - *lost\n", "f:3: not valid YAML: unknown anchor 'lost' referenced"},
		{"x: !e!tag y\n", "f:1: not valid YAML: found undefined tag handle"},
		{"%YAML 2.0\n---\nx: 1\n", "f:1: not valid YAML: found incompatible YAML document"},
	} {
		got, _, _ := strings.Cut(faults(t, test.text), "\n")
		if got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

// TestBinaryLine holds the bytes that make a file no text.
func TestBinaryLine(t *testing.T) {
	for text, want := range map[string]int{
		"":                    0,
		"a: b\n":              0,
		"a:\tb\r\n":           0,
		"a: é\u2028\u0085":    0,
		"a: \U0001F600":       0,
		"\x00":                1,
		"a\nb\x07":            2,
		"a\r\nb\r\n\x1b":      3,
		"\x7f":                1,
		"a\n\u009f":           2,
		"a\n\n\xff":           3,
		"\xff\xfea\x00":       1,
		"\ufffe":              1,
		"caf\xe9":             1,
		"truncated \xe2\x82":  1,
		"replacement \ufffd.": 0,
	} {
		if got := binaryLine([]byte(text)); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// TestDocuments holds what stands around the one document of a file.
func TestDocuments(t *testing.T) {
	const second = "a second YAML document\n  hint: keep everything in one document, without a line ---"
	for text, want := range map[string]string{
		oneZone + "---\n":              "f:2: " + second,
		oneZone + "---\nwatch: true\n": "f:2: " + second,
		"---\n" + oneZone + "...\n":    "",
		"# a\n---\n# b\n" + oneZone:    "",
		oneZone + "...\n# the end\n":   "",
		"\uFEFF\uFEFF" + oneZone:       "",
		"null\n":                       "f: zones: no zones\n  hint: zones: [ { name: gslb.example.com, file: gslb.example.com.zone } ]",
		"~":                            "f: zones: no zones\n  hint: zones: [ { name: gslb.example.com, file: gslb.example.com.zone } ]",
		"--- # nothing\n":              "f: zones: no zones\n  hint: zones: [ { name: gslb.example.com, file: gslb.example.com.zone } ]",
		"\n\n- a\n":                    "f:3: a list where the settings belong\n  hint: the file is a map of keys such as \"zones:\"",
		"42\n":                         "f:1: 42 where the settings belong\n  hint: the file is a map of keys such as \"zones:\"",
		"\"\"\n":                       "f:1: \"\" where the settings belong\n  hint: the file is a map of keys such as \"zones:\"",
	} {
		if got := faults(t, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestAliasBounds has aliases bounded by what they stand for, and those of
// ordinary files far within the bound.
func TestAliasBounds(t *testing.T) {
	bomb := func(levels, width int) string {
		text := oneZone + "l0: &l0 x\n"
		for i := range levels {
			text += fmt.Sprintf("l%d: &l%d [ %s ]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i), width), ", "))
		}
		return text
	}
	const want = "f:1: its aliases stand for more than 262144 values\n  hint: use fewer aliases"
	for _, size := range [][2]int{{6, 9}, {30, 2}, {100, 100}, {1000, 2}} {
		if got := faults(t, bomb(size[0], size[1])); got != want {
			t.Errorf("%v: got %q", size, got)
		}
	}
	if got := faults(t, bomb(3, 9)); !strings.HasPrefix(got, "f:2: l0: unknown key") {
		t.Errorf("few aliases: got %q", got)
	}
	many := oneZone + "checks:\n  base: &base { type: tcp, port: 25, retries: 1 }\n"
	for i := range 2000 {
		many += fmt.Sprintf("  c%d: { <<: *base, port: %d }\n", i, i+1)
	}
	c, problems := load("f", []byte(many))
	if problems != nil || len(c.Checks) != 2001 || c.Checks["c1999"].TCP.Port != 2000 || c.Checks["c7"].Retries != 1 {
		t.Errorf("2000 checks with one base: %v", problems)
	}
}

// TestLargeFile loads a file larger than sites have, and refuses a map that would take too long.
func TestLargeFile(t *testing.T) {
	const zones, checks = 20_000, 5_000
	var b strings.Builder
	b.WriteString("zones:\n")
	for i := range zones {
		fmt.Fprintf(&b, "  - { name: z%d.example.com, file: z%d.zone }\n", i, i)
	}
	b.WriteString("checks:\n")
	for i := range checks {
		fmt.Fprintf(&b, "  c%d: { type: icmp }\n", i)
	}
	c, problems := load("f", []byte(b.String()))
	if problems != nil || len(c.Zones) != zones || len(c.Checks) != checks {
		t.Fatal(problems)
	}
	many := oneZone + "checks:\n" + strings.Repeat("  c: 1\n", maxKeys+1)
	want := "f:3: a map of 10001 keys\n  hint: at most 10000"
	if got := faults(t, many); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestManyProblems has a damaged file stop at a number of messages that a
// person may still look at.
func TestManyProblems(t *testing.T) {
	var b strings.Builder
	b.WriteString(oneZone)
	for i := range maxProblems + 7 {
		fmt.Fprintf(&b, "k%dxyzw: 1\n", i)
	}
	_, problems := load("f", []byte(b.String()))
	if len(problems) != maxProblems+1 {
		t.Fatalf("got %d problems", len(problems))
	}
	want := zone.Problem{File: "f", Severity: zone.Error, Message: "7 more problems", Hint: "mend those above first"}
	if last := problems[maxProblems]; last != want {
		t.Errorf("got %+v", last)
	}
}
