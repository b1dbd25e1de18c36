package main_test

import (
	"slices"
	"strings"
	"testing"
)

// TestRepoRulesCatch: each rule finds its breach and leaves good code alone.
func TestRepoRulesCatch(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"a/a.go", "func init() {}", "a/a.go:2: init function"},
		{"a/a.go", "func (t) init() {}", ""},
		{"a/a.go", "var table = map[int]int{}", "a/a.go:2: table is a package variable"},
		{"a/a.go", "var count, errX = 0, errors.New(``)", "a/a.go:2: count is a package variable"},
		{"a/a.go", "var errX = errors.New(``)\nvar re = regexp.MustCompile(``)\nvar _ I = T{}", ""},
		{"a/a.go", "//go:embed page.html\nvar page string", ""},
		{"a/a_test.go", "var table = map[int]int{}", ""},
		{"a/a_test.go", "func f() { time.Sl" + "eep(1) }",
			"a/a_test.go:2: time.Sleep in a test: use testing/synctest, or poll with a deadline"},
		{"a/a.go", "func f() { time.Sl" + "eep(1) }", ""},
		{"a/a.go", "func f() { zap.L().Info(``) }", "a/a.go:2: zap.L is global state"},
		{"a/a.go", "func f() { log.Printf(``) }", "a/a.go:2: log.Printf is global state"},
		{"a/a.go", "func f() { s.log.Info(``) }", ""},
		{"a/a.go", "func f() { os.Exit(1) }", "a/a.go:2: os.Exit outside package main"},
		{"a/a.go", "// TO" + "DO: later\nvar _ I = 1", `a/a.go:2: "TO` + `DO": finish it or file it`},
		{"a/a_test.go", "func TestX(t *testing.T) { t.Sk" + "ip(1) }",
			"a/a_test.go:2: t.Sk" + "ip in a function that does not fail instead when CI is set"},
		{"a/a_test.go", "func need(t *testing.T) { if os.Getenv(`CI`) != `` { t.Fatal() }; t.Skipf(``) }",
			"a/a_test.go:2: t.Skipf in a function that does not fail instead when CI is set"},
		{"a/a_test.go", "func need(t *testing.T) { if os.Getenv(\"CI\") != `` { t.Fatal() }; t.Skipf(``) }", ""},
		{"a/a.go", "func F() {}", "a/a.go:2: exported F has no comment"},
		{"a/a.go", "type T int", "a/a.go:2: exported T has no comment"},
		{"a/a.go", "const (\n\tA = 1 // is one\n\tB = 2\n)", "a/a.go:4: exported B has no comment"},
		{"a/a.go", "// F does.\nfunc F() {}\n// All.\nconst (\n\tA = 1\n)\nfunc (t) M() {}\nfunc g() {}", ""},
		{"a/a.go", "// T is.\ntype T int\nfunc (*T) M() {}", "a/a.go:4: exported M has no comment"},
		{"a/a.go", "func f() {" + strings.Repeat("\n", 60) + "}", "a/a.go:2: f has 61 lines, at most 60"},
		{"a/a.go", "func f() {" + strings.Repeat("\n", 59) + "}", ""},
	}
	for _, c := range cases {
		s, err := parseSource(c.name, []byte("package a\n"+c.text+"\n"))
		if err != nil {
			t.Fatalf("%q: %v", c.text, err)
		}
		got := append(banned(s), undocumented(s)...)
		for _, f := range append(packageVars([]source{s}), longFuncs([]source{s})...) {
			got = append(got, f.problem)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestRepoWholeRulesCatch(t *testing.T) {
	code := parseLines(t, "a/a.go", "package a", 601)
	tests := parseLines(t, "a/a_test.go", "package a", 600)
	doc := parseLines(t, "b/b.go", "// Package b is.\npackage b //nolint", 2)
	all := []source{code, tests, doc, parseLines(t, "b/b_test.go", "package b", 9)}

	check := func(got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(fileSizes(all),
		"a/a.go: 601 lines, at most 500", "a/a_test.go: 600 lines, at most 500", "the median file has 600 lines, at most 150")
	check(testShare(all), "a: 600 lines of tests for 601 of code")
	check(packageDocs(all), "a: no package comment")
	check(lintDirectives(all), "b/b.go:2")
}

// parseLines pads a source to a number of lines.
func parseLines(t *testing.T, name, text string, lines int) source {
	t.Helper()
	s, err := parseSource(name, []byte(text+strings.Repeat("\n", lines-strings.Count(text, "\n"))))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
