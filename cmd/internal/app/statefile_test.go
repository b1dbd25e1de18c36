package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gslbd/health"
)

func openDir(t *testing.T, path string) *stateDir {
	t.Helper()
	d, err := openStateDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.close() })
	return d
}

func TestStateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not", "there")
	d := openDir(t, path)
	if doc, err := d.read(); doc != nil || err != nil {
		t.Fatalf("of an empty directory: %v, %v", doc, err)
	}
	put(t, d.file()+".new", "left by a crash")
	want := document{Version: stateVersion, Time: time.Now().Round(0), Saved: health.Saved{Groups: []health.SavedGroup{{
		Zone: "example.com.", Name: "www.example.com.", Type: "A", Pool: "primary", Rule: "pool", Answer: []string{"192.0.2.1"},
		Members: []health.SavedMember{{Data: "192.0.2.1", State: "up", Checks: []health.SavedCheck{{Name: "web", Probe: "00ff", State: "up"}}}},
	}}}}
	for range 2 {
		if err := d.write(want); err != nil {
			t.Fatal(err)
		}
		got, err := d.read()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Error(diff)
		}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() != "state.json" && e.Name() != "state.lock" || info.Mode().Perm() != 0o600 {
			t.Errorf("%s, mode %v", e.Name(), info.Mode())
		}
	}
}

// A write that fails leaves the old file whole.
func TestStateFileWriteFails(t *testing.T) {
	d := openDir(t, t.TempDir())
	if err := d.write(document{Version: stateVersion}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(d.file()+".new", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.write(document{Version: stateVersion, Time: time.Now()}); err == nil {
		t.Error("no error")
	}
	if doc, err := d.read(); err != nil || !doc.Time.IsZero() {
		t.Errorf("%v, %v", doc, err)
	}
}

// What gslbd did not write is called damaged and can be set aside, again and again.
func TestStateFileDamaged(t *testing.T) {
	for name, make := range map[string]func(file string) error{
		"empty":         func(f string) error { return os.WriteFile(f, nil, 0o600) },
		"garbage":       func(f string) error { return os.WriteFile(f, []byte("\x00\xff"), 0o600) },
		"truncated":     func(f string) error { return os.WriteFile(f, []byte(`{"version":1,"saved":"2026-`), 0o600) },
		"two documents": func(f string) error { return os.WriteFile(f, []byte(`{"version":1} {"version":1}`), 0o600) },
		"another shape": func(f string) error { return os.WriteFile(f, []byte(`{"version":1,"groups":7}`), 0o600) },
		"version":       func(f string) error { return os.WriteFile(f, []byte(`{"version":2}`), 0o600) },
		"no version":    func(f string) error { return os.WriteFile(f, []byte(`{}`), 0o600) },
		"nested":        func(f string) error { return os.WriteFile(f, []byte(strings.Repeat("[", 1<<20)), 0o600) },
		"directory":     func(f string) error { return os.Mkdir(f, 0o700) },
		"dangling link": func(f string) error { return os.Symlink("nowhere", f) },
		"huge": func(f string) error {
			if err := os.WriteFile(f, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(f, maxState+1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDir(t, t.TempDir())
			for range 2 {
				if err := make(d.file()); err != nil {
					t.Fatal(err)
				}
				doc, err := d.read()
				if _, ok := errors.AsType[damaged](err); !ok || doc != nil {
					t.Fatalf("%v, %v", doc, err)
				}
				aside, err := d.setAside()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := os.Lstat(aside); err != nil {
					t.Error(err)
				}
				if doc, err := d.read(); doc != nil || err != nil {
					t.Errorf("afterwards %v, %v", doc, err)
				}
			}
		})
	}
}

// No file that was cut off or in which a bit turned passes for the whole one.
func TestStateFileFlipped(t *testing.T) {
	var whole bytes.Buffer
	if err := encode(&whole, document{Version: stateVersion, Time: time.Now(), Saved: health.Saved{Groups: []health.SavedGroup{{
		Zone: "example.com.", Name: "www.example.com.", Type: "A", Members: []health.SavedMember{{Data: "192.0.2.1", State: "down"}},
	}}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := decode(whole.Bytes()); err != nil {
		t.Fatal(err)
	}
	for i := range whole.Len() {
		if _, err := decode(whole.Bytes()[:i]); err == nil {
			t.Errorf("%d of %d bytes are enough", i, whole.Len())
		}
		for bit := range 8 {
			text := bytes.Clone(whole.Bytes())
			text[i] ^= 1 << bit
			if _, err := decode(text); err == nil {
				t.Errorf("taken for whole: %q", text)
			}
		}
	}
}

func TestStateDirLock(t *testing.T) {
	path := t.TempDir()
	first := openDir(t, path)
	if _, err := openStateDir(path); err == nil || err.Error() != "another gslbd keeps its state there" {
		t.Errorf("got %v", err)
	}
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	openDir(t, path)
}

func TestStateDirUnusable(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "")
	for _, path := range []string{filepath.Join(dir, "file"), filepath.Join(dir, "file", "below"), "/proc/gslbd"} {
		if d, err := openStateDir(path); err == nil {
			t.Errorf("%s: opened", path)
			d.close()
		}
	}
}
