package main

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the README has its reader build needs no library of the system.
func TestBuildIsStatic(t *testing.T) {
	recipe, err := exec.Command("make", "-C", "../..", "--no-print-directory", "-n", "build").Output()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "gslbd")
	command := exec.Command("sh", "-c", strings.Replace(string(recipe), "-o gslbd", "-o "+bin, 1))
	command.Dir = "../.."
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if libraries, err := program.ImportedLibraries(); len(libraries) > 0 {
		t.Errorf("needs %v (%v)", libraries, err)
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP {
			t.Error("has an interpreter")
		}
	}
}
