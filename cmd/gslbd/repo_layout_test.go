package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRepoTopLevel: the top level holds exactly the agreed names.
func TestRepoTopLevel(t *testing.T) {
	want := []string{
		"CHANGELOG.md", "LICENSE", "Makefile", "README.md", "cmd", "dnsserver",
		"examples", "go.mod", "go.sum", "health", "testdata", "zone",
	}
	var got []string
	for _, name := range repoFiles(t) {
		first, _, _ := strings.Cut(name, "/")
		if !strings.HasPrefix(first, ".") {
			got = append(got, first)
		}
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("top level is\n%q, want\n%q", got, want)
	}
}

// TestRepoPlaces: no file names a directory of one machine.
func TestRepoPlaces(t *testing.T) {
	place := regexp.MustCompile(`/(work|farm|root|home/[a-z]+)/`)
	for _, name := range repoFiles(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if m := place.Find(line); m != nil {
				t.Errorf("%s:%d: %s is a path of one machine", name, i+1, m)
			}
		}
	}
}

// TestRepoReadme: the first page stays short.
func TestRepoReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n >= 200 {
		t.Errorf("README.md has %d lines, want under 200", n)
	}
}

// TestRepoLinks: what the pages of the repository link to is there.
func TestRepoLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^):#]+)[#)]`)
	for _, name := range repoFiles(t) {
		if filepath.Ext(name) != ".md" {
			continue
		}
		page := filepath.Join(root, name)
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
		}
	}
}

// TestRepoDependencies: README names each direct dependency.
func TestRepoDependencies(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range readLines(t, "go.mod") {
		line = strings.TrimPrefix(line, "require ")
		name, rest, _ := strings.Cut(line, " ")
		if !strings.Contains(name, ".") || strings.Contains(rest, "// indirect") || !strings.HasPrefix(rest, "v") {
			continue
		}
		if !bytes.Contains(text, []byte(name)) {
			t.Errorf("README.md gives no reason for %s", name)
		}
	}
}
