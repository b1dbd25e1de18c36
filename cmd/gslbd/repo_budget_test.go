package main_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// The budgets that are numbers.
const (
	maxFileLines    = 500
	medianFileLines = 150
	maxFuncLines    = 60
	maxSuppressions = 5
)

// TestRepoBudgets holds sizes, named exceptions and the share of tests.
func TestRepoBudgets(t *testing.T) {
	all := loadSources(t)
	report(t, fileSizes(all))
	report(t, testShare(all))

	findings := append(longFuncs(all), packageVars(all)...)
	exceptions := readLines(t, "testdata/layout/exceptions.txt")
	for _, f := range findings {
		if !slices.Contains(exceptions, f.exception) {
			t.Errorf("%s (an exception would read %q)", f.problem, f.exception)
		}
	}
	for _, e := range exceptions {
		if !slices.ContainsFunc(findings, func(f finding) bool { return f.exception == e }) {
			t.Errorf("testdata/layout/exceptions.txt: %q is not needed", e)
		}
	}
	directives := lintDirectives(all)
	if n := len(exceptions) + len(directives); n > maxSuppressions {
		t.Errorf("%d suppressions, at most %d: %q %q", n, maxSuppressions, exceptions, directives)
	}
}

// finding is a breach that testdata/layout/exceptions.txt may name.
type finding struct{ exception, problem string }

func fileSizes(all []source) (problems []string) {
	var sizes []int
	for _, s := range all {
		sizes = append(sizes, s.lines)
		if s.lines > maxFileLines {
			problems = append(problems, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, maxFileLines))
		}
	}
	slices.Sort(sizes)
	if median := sizes[len(sizes)/2]; median > medianFileLines {
		problems = append(problems, fmt.Sprintf("the median file has %d lines, at most %d", median, medianFileLines))
	}
	return problems
}

// testShare wants, in total and in each package, as many lines of tests as of
// other code. The tests of the repository itself count for no package.
func testShare(all []source) (problems []string) {
	code, tests := map[string]int{}, map[string]int{}
	for _, s := range all {
		switch name := s.path[strings.LastIndexByte(s.path, '/')+1:]; {
		case strings.HasPrefix(s.path, "testdata/"), strings.HasPrefix(name, "repo_"):
		case s.test:
			tests[s.dir()] += s.lines
			tests["all packages"] += s.lines
		default:
			code[s.dir()] += s.lines
			code["all packages"] += s.lines
		}
	}
	for dir, n := range code {
		if tests[dir] < n {
			problems = append(problems, fmt.Sprintf("%s: %d lines of tests for %d of code", dir, tests[dir], n))
		}
	}
	slices.Sort(problems)
	return problems
}

func longFuncs(all []source) (found []finding) {
	for _, s := range all {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
			if n > maxFuncLines {
				found = append(found, finding{
					"func " + s.dir() + "." + funcName(f),
					fmt.Sprintf("%s: %s has %d lines, at most %d", s.at(f), funcName(f), n, maxFuncLines),
				})
			}
		}
	}
	return found
}

// funcName gives "Name" or "(*Type).Name".
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return "(" + types.ExprString(f.Recv.List[0].Type) + ")." + f.Name.Name
}

// lintDirectives lists the places where a linter is told to look away.
func lintDirectives(all []source) (places []string) {
	for _, s := range all {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//nolint") || strings.HasPrefix(c.Text, "//lint:") {
					places = append(places, s.at(c))
				}
			}
		}
	}
	return places
}
