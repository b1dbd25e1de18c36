package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the messages now given to the .want files, to be read before they are kept")

// TestInvalid loads each file of ../../../testdata/config/invalid, one mistake each,
// and compares all it says with the .want file beside it.
func TestInvalid(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/config/invalid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			c, problems := Load(file)
			if c != nil || !problems.Failed(false) {
				t.Fatalf("loaded, want an error")
			}
			wellFormed(t, problems)
			got := strings.ReplaceAll(problems.Error(), filepath.Dir(file)+"/", "") + "\n"
			got = strings.ReplaceAll(got, filepath.Dir(file), ".")
			wantFile := strings.TrimSuffix(file, ".yaml") + ".want"
			if *update {
				if err := os.WriteFile(wantFile, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantFile)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

// TestInvalidFiles holds that no expectation is left without its file, and
// that every file shows a mistake of its own.
func TestInvalidFiles(t *testing.T) {
	wants, err := filepath.Glob("../../../testdata/config/invalid/*.want")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, want := range wants {
		name := strings.TrimSuffix(want, ".want")
		if _, err := os.Stat(name + ".yaml"); err != nil {
			t.Errorf("%s has no file: %v", filepath.Base(want), err)
		}
		data, err := os.ReadFile(name + ".yaml")
		if err != nil {
			continue
		}
		if other, double := said[string(data)]; double {
			t.Errorf("%s and %s are the same", filepath.Base(name), other)
		}
		said[string(data)] = filepath.Base(name)
	}
}
