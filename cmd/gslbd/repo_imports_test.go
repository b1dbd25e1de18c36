package main_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestRepoImports holds the import rules of testdata/layout/imports.txt.
func TestRepoImports(t *testing.T) {
	rules, err := parseRules(readLines(t, "testdata/layout/imports.txt"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, rules.check(importsOf(loadSources(t))))
}

// edge is one import: who (a package, or a file in rules) and what.
type edge struct{ from, to string }

type importRules struct {
	allowed     map[string][]string
	only, never []edge
}

func parseRules(lines []string) (importRules, error) {
	r := importRules{allowed: map[string][]string{}}
	for _, line := range lines {
		if from, to, ok := strings.Cut(line, " -> "); ok {
			kind, from, _ := strings.Cut(from, " ")
			switch kind {
			case "only":
				r.only = append(r.only, edge{from, to})
			case "never":
				r.never = append(r.never, edge{from, to})
			default:
				return r, fmt.Errorf("unknown rule %q", line)
			}
			continue
		}
		from, to, ok := strings.Cut(line, ":")
		if !ok {
			return r, fmt.Errorf("no colon in rule %q", line)
		}
		r.allowed[from] = append(r.allowed[from], strings.Fields(to)...)
	}
	return r, nil
}

// importsOf maps each non-test file to what it imports beside the standard
// library, packages of this module without the module's name.
func importsOf(all []source) map[string][]string {
	files := map[string][]string{}
	for _, s := range all {
		if s.test {
			continue
		}
		files[s.path] = nil
		for _, spec := range s.file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			own, inside := strings.CutPrefix(name, module)
			first, _, _ := strings.Cut(name, "/")
			if inside || strings.Contains(first, ".") {
				files[s.path] = append(files[s.path], own)
			}
		}
	}
	return files
}

func (r importRules) check(files map[string][]string) (problems []string) {
	packages := map[string][]string{}
	for file, imports := range files {
		dir := file[:max(strings.LastIndexByte(file, '/'), 0)]
		packages[dir] = append(packages[dir], imports...)
		allowed, listed := r.allowed[dir]
		if !listed {
			problems = append(problems, fmt.Sprintf("%s: package %s has no import rule", file, dir))
		}
		for _, to := range imports {
			if !slices.ContainsFunc(allowed, func(pattern string) bool { return within(pattern, to) }) {
				problems = append(problems, fmt.Sprintf("%s: %s must not import %s", file, dir, to))
			}
			for _, rule := range r.only {
				if within(rule.to, to) && !within(rule.from, dir) {
					problems = append(problems, fmt.Sprintf("%s: only %s imports %s", file, rule.from, to))
				}
			}
		}
	}
	for from, direct := range merge(packages, files) {
		for _, to := range reach(direct, packages) {
			for _, rule := range r.never {
				if within(rule.from, from) && within(rule.to, to) {
					problems = append(problems, fmt.Sprintf("%s reaches %s: never %s -> %s", from, to, rule.from, rule.to))
				}
			}
		}
	}
	slices.Sort(problems)
	return problems
}

func merge(a, b map[string][]string) map[string][]string {
	both := map[string][]string{}
	for _, m := range []map[string][]string{a, b} {
		for k, v := range m {
			both[k] = v
		}
	}
	return both
}

// reach follows imports through the packages of this module. What third
// parties import is their affair, and so is a third party's use by another
// package of ours: only direct imports lead out of the module.
func reach(direct []string, packages map[string][]string) []string {
	found := slices.Clone(direct)
	for i := 0; i < len(found); i++ {
		for _, to := range packages[found[i]] {
			if _, ours := packages[to]; ours && !slices.Contains(found, to) {
				found = append(found, to)
			}
		}
	}
	return found
}

// within reports whether a package, file or import path falls under a pattern.
func within(pattern, name string) bool {
	base, below := strings.CutSuffix(pattern, "/...")
	return name == base || below && strings.HasPrefix(name, base+"/")
}

func TestRepoImportRulesCatch(t *testing.T) {
	rules, err := parseRules([]string{
		"a: b example.org/x", "b: c", "c:",
		"only b -> example.org/y", "never a/... -> c", "never b/f.go -> c",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := rules.check(map[string][]string{
		"a/f.go": {"b", "example.org/x", "example.org/y"},
		"b/f.go": {"c"},
		"c/f.go": nil,
		"d/f.go": nil,
	})
	want := []string{
		"a reaches c: never a/... -> c",
		"a/f.go reaches c: never a/... -> c",
		"a/f.go: a must not import example.org/y",
		"a/f.go: only b imports example.org/y",
		"b/f.go reaches c: never b/f.go -> c",
		"d/f.go: package d has no import rule",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
