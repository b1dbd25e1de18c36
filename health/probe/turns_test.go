package probe

import (
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A file that takes for ever to open, as on a dead network file system, is
// unknown after the timeout; those who ask meanwhile are told at once, no second
// reading begins, and when the first ends all is as before.
func TestFileStuck(t *testing.T) {
	path := states(t, "127.0.0.1 up\n")
	synctest.Test(t, func(t *testing.T) {
		c := fileCheck(path, 0)
		dead := make(chan struct{})
		var opened atomic.Int32
		var probers []*fileProber
		for range 100 {
			made, err := New(c, Target{Addr: local}, false)
			if err != nil {
				t.Fatal(err)
			}
			p := made.(*fileProber)
			p.open = func(path string) (*os.File, error) {
				opened.Add(1)
				<-dead
				return openFile(path)
			}
			probers = append(probers, p)
		}
		unread := path + " cannot be read: no end in 5s"
		var all sync.WaitGroup
		for _, p := range probers {
			all.Go(func() { want(t, Round(context.Background(), p, c), Unknown, unread) })
		}
		start := time.Now()
		all.Wait()
		if took := time.Since(start); took != long {
			t.Errorf("took %s", took)
		}
		start = time.Now()
		for _, p := range probers {
			want(t, Round(context.Background(), p, c), Unknown, unread)
		}
		if took := time.Since(start); took != 0 || opened.Load() != 1 {
			t.Errorf("later ones took %s, opened %d times", took, opened.Load())
		}
		close(dead)
		synctest.Wait()
		for _, p := range probers {
			if got := p.Probe(context.Background()); got.Outcome != Pass {
				t.Fatalf("afterwards: %s %q", word(got.Outcome), got.Reason)
			}
		}
	})
}

// Giving up a round of a stuck reading is no verdict on the file.
func TestFileStuckCancelled(t *testing.T) {
	path := states(t, "127.0.0.1 up\n")
	synctest.Test(t, func(t *testing.T) {
		c := fileCheck(path, 0)
		made, err := New(c, Target{Addr: local}, false)
		if err != nil {
			t.Fatal(err)
		}
		dead := make(chan struct{})
		p := made.(*fileProber)
		p.open = func(string) (*os.File, error) { <-dead; return nil, os.ErrNotExist }
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		want(t, Round(ctx, p, c), Fault, "cancelled")
		close(dead)
	})
}

// A password that cannot be read in time is a fault, and holds up one goroutine.
func TestPasswordStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := httpCheck(long, func(o *HTTP) { o.Username, o.PasswordFile = "op", "/dead/password" })
		made, err := New(c, Target{Addr: local, Port: 1}, false)
		if err != nil {
			t.Fatal(err)
		}
		dead := make(chan struct{})
		var reads atomic.Int32
		p := made.(*httpProber)
		p.password = func(string) (string, error) { reads.Add(1); <-dead; return "x", nil }
		for range 3 {
			want(t, Round(context.Background(), p, c), Fault, "password_file: not read in 5s")
		}
		close(dead)
		synctest.Wait()
		if auth, f := p.authorization(context.Background()); f != nil || !strings.HasPrefix(auth, "Basic ") || reads.Load() != 2 {
			t.Errorf("%q, %v, %d reads", auth, f, reads.Load())
		}
	})
}
