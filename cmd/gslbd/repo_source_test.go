package main_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the repository as seen from this directory, where go test runs.
const root = "../.."

// module is the name in go.mod.
const module = "gslbd/"

// source is one Go file of the repository.
type source struct {
	path  string // from the root, with slashes
	test  bool
	lines int
	file  *ast.File
	fset  *token.FileSet
}

func (s source) dir() string { return path.Dir(s.path) }

// at names the place of a node for a message.
func (s source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	p.Filename = s.path
	p.Column = 0
	return p.String()
}

func parseSource(name string, text []byte) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{
		path:  name,
		test:  strings.HasSuffix(name, "_test.go"),
		lines: strings.Count(string(text), "\n"),
		file:  file,
		fset:  fset,
	}, err
}

// repoFiles lists every file below the root that a commit would hold.
func repoFiles(t *testing.T) []string {
	t.Helper()
	ignored := readLines(t, ".gitignore")
	var names []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if slices.ContainsFunc(ignored, func(pattern string) bool { return matches(pattern, rel) }) {
			return nil
		}
		if d.IsDir() && rel == ".git" {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			names = append(names, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// matches knows the two forms that .gitignore uses here: "/name" at the root
// and "*.suffix" anywhere.
func matches(pattern, rel string) bool {
	if rooted, ok := strings.CutPrefix(pattern, "/"); ok {
		hit, _ := path.Match(rooted, rel)
		return hit
	}
	hit, _ := path.Match(pattern, path.Base(rel))
	return hit
}

func loadSources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, name := range repoFiles(t) {
		if path.Ext(name) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseSource(name, text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// readLines gives the lines of a file of the repository that are neither
// empty nor comments, each cut at " #".
func readLines(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		line, _, _ := strings.Cut(" "+scan.Text(), " #")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}
