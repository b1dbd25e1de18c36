package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSocket: the socket of the running server is found in files that do not load.
func TestSocket(t *testing.T) {
	const sound = "zones: [ { name: example.com, file: a.zone } ]\n"
	tests := []struct{ name, text, want string }{
		{"sound", sound + "admin: { socket: a.sock }", "a.sock"},
		{"sound, default", sound, "gslbd.sock"},
		{"unknown key", "nonsense: 1\nadmin: { socket: a.sock }", "a.sock"},
		{"unknown key, default", "nonsense: 1\n", "gslbd.sock"},
		{"no zones", "admin:\n  socket: a.sock", "a.sock"},
		{"no YAML below", "admin:\n  # here\n\n  socket: a.sock\nchecks: [\n", "a.sock"},
		{"no YAML above", "checks: }\nadmin: { socket: a.sock }\nlog: {}\n", "a.sock"},
		{"admin over lines", "checks: }\nadmin: {\n  socket: a.sock\n}\nlog: {}\n", "a.sock"},
		{"no YAML, default", "checks: }\n  admin: { socket: a.sock }", "gslbd.sock"},
		{"no YAML within", "admin: { socket: [a.sock\n", "gslbd.sock"},
		{"a list", "admin: { socket: [ a.sock ] }", "gslbd.sock"},
		{"binary", "\x00", "gslbd.sock"},
		{"empty", "", "gslbd.sock"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "gslbd.yaml")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, problems := Socket(file)
			_, want := Load(file)
			if got != filepath.Join(dir, tt.want) || problems.Error() != want.Error() {
				t.Errorf("got %s, %v\nwant %s, %v", got, problems, tt.want, want)
			}
			t.Setenv("GSLBD_ADMIN_SOCKET", "/other.sock")
			if got, _ := Socket(file); got != "/other.sock" {
				t.Errorf("with the variable: got %s", got)
			}
		})
	}
}

// TestSocketPlaces: a file that cannot be read has its default place, one that
// does not exist has none.
func TestSocketPlaces(t *testing.T) {
	dir := t.TempDir()
	if got, problems := Socket(filepath.Join(dir, "nix.yaml")); got != "" || !problems.Failed(false) {
		t.Errorf("no file: got %q, %v", got, problems)
	}
	if got, problems := Socket(dir); got != filepath.Join(filepath.Dir(dir), "gslbd.sock") || !problems.Failed(false) {
		t.Errorf("a directory: got %q, %v", got, problems)
	}
}
