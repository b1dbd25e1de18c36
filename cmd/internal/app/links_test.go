package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	put(t, "releases/1/x.zone", "")
	put(t, "plain.zone", "")
	for name, target := range map[string]string{
		"current":         "releases/1",
		"..data":          filepath.Join(dir, "releases", "1"),
		"x.zone":          "..data/x.zone",
		"up.zone":         "releases/../plain.zone",
		"loop":            "loop",
		"dangling.zone":   "nowhere/y.zone",
		"releases/back":   "../plain.zone",
		"releases/1/self": ".",
	} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ file, want string }{
		{"plain.zone", "plain.zone"},
		{"./plain.zone", "plain.zone"},
		{"new.zone", "new.zone"},
		{"releases/1/x.zone", "releases/1 releases/1/x.zone"},
		{"current/x.zone", "current releases/1 releases/1/x.zone"},
		{"x.zone", "x.zone ..data releases/1 releases/1/x.zone"},
		{"up.zone", "up.zone plain.zone"},
		{"releases/back", "releases releases/back plain.zone"},
		{"dangling.zone", "dangling.zone nowhere nowhere/y.zone"},
		{"current/self/x.zone", "current releases/1/self releases/1 releases/1/x.zone"},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range steps(tt.file) {
			if s.path() == dir {
				continue // the directory of them all
			}
			rel, err := filepath.Rel(dir, s.path())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", tt.file, got, tt.want)
		}
	}
	if got := len(steps("loop")); got != 1+maxLinks { // and the directory
		t.Errorf("a loop has %d steps, want %d", got, maxLinks)
	}
}
