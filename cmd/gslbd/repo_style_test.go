package main_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRepoStyle holds the budgets that have no exceptions.
func TestRepoStyle(t *testing.T) {
	all := loadSources(t)
	for _, s := range all {
		report(t, banned(s))
		report(t, undocumented(s))
	}
	report(t, packageDocs(all))
}

// packageVars finds package variables other than sentinel errors, compiled
// regexps, embedded files and interface assertions. Tests may have tables.
func packageVars(all []source) (found []finding) {
	for _, s := range all {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR || embeds(g) {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if name.Name != "_" && !(i < len(v.Values) && constant(v.Values[i])) {
						found = append(found, finding{
							"var " + s.dir() + "." + name.Name,
							fmt.Sprintf("%s: %s is a package variable", s.at(name), name.Name),
						})
					}
				}
			}
		}
	}
	return found
}

// constant reports whether a value never changes once it is made.
func constant(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := types.ExprString(call.Fun)
	return name == "errors.New" || name == "regexp.MustCompile"
}

func embeds(g *ast.GenDecl) bool {
	return g.Doc != nil && slices.ContainsFunc(g.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// The words are put together so that this file does not hold them.
var (
	unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b|not imple` + `mented`)
	globalLogs = regexp.MustCompile(`^(zap\.(L|S|ReplaceGlobals|RedirectStdLog)|` +
		`log\.(Print|Fatal|Panic|Set|Default).*|slog\.(Debug|Info|Warn|Error|Log|SetDefault).*|` +
		`promauto\..*|prometheus\.(MustRegister|Register|DefaultRegisterer))$`)
	skips = regexp.MustCompile(`\.Skip(f|Now)?$`)
)

// banned finds init functions, sleeps in tests, global loggers and registries,
// exits outside main, unfinished work, and skips that CI would not notice.
func banned(s source) (problems []string) {
	add := func(n ast.Node, format string, args ...any) {
		problems = append(problems, s.at(n)+": "+fmt.Sprintf(format, args...))
	}
	for _, group := range s.file.Comments {
		if m := unfinished.FindString(group.Text()); m != "" {
			add(group, "%q: finish it or file it", m)
		}
	}
	for _, d := range s.file.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		if isFunc && f.Recv == nil && f.Name.Name == "init" {
			add(f, "init function")
		}
		watched := isFunc && asksCI(f)
		ast.Inspect(d, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch name := types.ExprString(sel); {
			case s.test && name == "time.Sleep":
				add(sel, "time.Sleep in a test: use testing/synctest, or poll with a deadline")
			case globalLogs.MatchString(name):
				add(sel, "%s is global state", name)
			case name == "os.Exit" && s.file.Name.Name != "main" && !strings.HasSuffix(s.path, "_test.go"):
				add(sel, "os.Exit outside package main")
			case s.test && skips.MatchString(name) && !watched:
				add(sel, "%s in a function that does not fail instead when CI is set", name)
			}
			return true
		})
	}
	return problems
}

// asksCI reports whether a function looks at the CI environment variable.
func asksCI(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
			name := types.ExprString(call.Fun)
			found = found || (name == "os.Getenv" || name == "os.LookupEnv") && types.ExprString(call.Args[0]) == `"CI"`
		}
		return true
	})
	return found
}
