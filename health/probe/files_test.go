package probe

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file that was replaced by a pipe or a device after the configuration was
// checked is a fault at once; opening a pipe would wait for ever.
func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		skip(t, err)
	}
	for _, path := range []string{pipe, dir, "/dev/zero"} {
		reason := path + " is not a regular file"
		for option, change := range map[string]func(*HTTP){
			"ca_file":                func(o *HTTP) { o.CAFile = path },
			"cert_file and key_file": func(o *HTTP) { o.CertFile, o.KeyFile = path, path },
		} {
			c := httpCheck(long, func(o *HTTP) { o.Scheme = "https"; change(o) })
			if _, err := New(c, Target{Addr: local}, false); err == nil || err.Error() != option+": "+reason {
				t.Errorf("got %v", err)
			}
		}
		c := httpCheck(long, func(o *HTTP) { o.Username, o.PasswordFile = "op", path })
		p, err := New(c, Target{Addr: local}, false)
		if err != nil {
			t.Fatal(err)
		}
		want(t, Round(context.Background(), p, c), Fault, "password_file: "+reason)
	}
}

func TestReadFileLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := readFile(path, 100); err != nil || len(data) != 100 {
		t.Errorf("got %d bytes, %v", len(data), err)
	}
	if _, err := readFile(path, 99); err == nil || err.Error() != path+" is longer than 99 bytes" {
		t.Errorf("got %v", err)
	}
}
