package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block gives the indented block of README.md that begins with a text.
func block(t *testing.T, begin string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n    "+begin)
	if !found {
		t.Fatalf("README.md has no block that begins with %q", begin)
	}
	body, _, _ := strings.Cut(begin+rest, "\n\n")
	return strings.ReplaceAll(body, "\n    ", "\n") + "\n"
}

// TestReadmeFiles: the zone file and the configuration on the first page work
// as they stand.
func TestReadmeFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"gslbd.yaml":            block(t, "listen:"),
		"gslb.example.com.zone": block(t, "$ORIGIN"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got struct {
		OK     bool
		Groups []any
	}
	gslbd(t, &got, "check", "--strict", "--json", "-c", filepath.Join(dir, "gslbd.yaml"))
	if !got.OK || len(got.Groups) != 3 {
		t.Errorf("check says %+v, want 3 groups and no problem", got)
	}
	checkZone(t, filepath.Join(dir, "gslb.example.com.zone"))
}

// TestStockLinters: to other name servers the examples are plain zone files.
func TestStockLinters(t *testing.T) {
	for _, example := range []string{"quickstart", "nifcloud", "global-accelerator", "cloudflare", "front-door", "edgeone"} {
		checkZone(t, filepath.Join(example, "gslb.example.com.zone"))
	}
}

func checkZone(t *testing.T, file string) {
	t.Helper()
	need(t, "named-checkzone")
	out, err := exec.Command("named-checkzone", "-i", "local", "gslb.example.com", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "has no address") {
		t.Errorf("named-checkzone %s: %v\n%s", file, err, out)
	}
}
