package admin

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func sprint(v any) string { return fmt.Sprintf("%+v", v) }

func TestSocketMode(t *testing.T) {
	_, _, path := start(t, &fake{})
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != fs.ModeSocket|0o660 {
		t.Errorf("mode is %v", got)
	}
}

// leaveStale makes a socket file on which nobody answers, as a crash does.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := socketPath(t)
	leaveStale(t, path)
	s := New(path, &fake{}, nil)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	if _, err := NewClient(path).Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStaleSocketRace: of many that start at once on one stale socket, exactly
// one gets it, and answers on it.
func TestStaleSocketRace(t *testing.T) {
	for range 20 {
		path := socketPath(t)
		leaveStale(t, path)
		var racers sync.WaitGroup
		won := make(chan *Server, 8)
		for range cap(won) {
			racers.Go(func() {
				s := New(path, &fake{}, nil)
				if err := s.Start(); err == nil {
					won <- s
				} else if !strings.Contains(err.Error(), "another gslbd runs on it") {
					t.Error(err)
				}
			})
		}
		racers.Wait()
		if n := len(won); n != 1 {
			t.Errorf("%d servers have the socket", n)
		}
		if _, err := NewClient(path).Ready(t.Context()); err != nil {
			t.Error(err)
		}
		for close(won); len(won) > 0; {
			stop(t, <-won)
		}
	}
}

// TestLockedDirectory: whoever holds the lock for ever does not hold up a start
// for ever.
func TestLockedDirectory(t *testing.T) {
	path := socketPath(t)
	unlock, err := lockDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	err = New(path, &fake{}, nil).Start()
	if err == nil || !strings.Contains(err.Error(), "another program holds a lock on "+filepath.Dir(path)) {
		t.Errorf("got %v", err)
	}
}

func TestLiveSocketIsKept(t *testing.T) {
	_, client, path := start(t, &fake{})
	err := New(path, &fake{}, nil).Start()
	want := "admin socket " + path + ": another gslbd runs on it\n  hint: stop that one, or set admin.socket to another path"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := client.Ready(t.Context()); err != nil {
		t.Errorf("the live server was disturbed: %v", err)
	}
}

func TestOtherFileIsKept(t *testing.T) {
	path := socketPath(t)
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := New(path, &fake{}, nil).Start()
	if err == nil || !strings.Contains(err.Error(), "a file that is not a socket is in the way") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

func TestSocketDirectory(t *testing.T) {
	dir := filepath.Dir(socketPath(t))
	t.Run("the last one is made", func(t *testing.T) {
		s := New(filepath.Join(dir, "run", "s"), &fake{}, nil)
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		stop(t, s)
	})
	t.Run("no more than that", func(t *testing.T) {
		err := New(filepath.Join(dir, "no", "such", "s"), &fake{}, nil).Start()
		want := "no such file or directory\n  hint: set admin.socket to a path in a directory that gslbd may write to"
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("path too long", func(t *testing.T) {
		err := New(filepath.Join(dir, strings.Repeat("x", 108)), &fake{}, nil).Start()
		if err == nil || !strings.Contains(err.Error(), "at most 107 bytes") {
			t.Errorf("got %v", err)
		}
	})
}

func TestErrorText(t *testing.T) {
	if got := (&Error{Message: "m"}).Error(); got != "m" {
		t.Errorf("got %q", got)
	}
	if got := cause(errors.New("plain")); got.Error() != "plain" {
		t.Errorf("got %q", got)
	}
}
