package app

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"gslbd/health"
)

// keeping is a keeper in virtual time whose writes are noted.
type keeping struct {
	keeper
	dirty chan struct{}
	start time.Time
	logs  *observer.ObservedLogs

	mu     sync.Mutex
	writes []time.Duration // since start
	told   []string        // of faults
	ready  bool
	err    error
	takes  time.Duration
}

// set changes what the keeper meets from now on.
func (k *keeping) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

func keep(t *testing.T, test func(k *keeping)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.DebugLevel)
		k := &keeping{dirty: make(chan struct{}, 1), start: time.Now(), logs: logs, ready: true}
		k.keeper = keeper{changed: k.dirty, log: zap.New(core), refresh: time.Minute,
			event: func(e health.Event) { k.told = append(k.told, e.Kind+" "+e.To+" "+e.Cause) },
			saved: func() *health.Saved {
				k.mu.Lock()
				defer k.mu.Unlock()
				if !k.ready {
					return nil
				}
				return &health.Saved{}
			},
			write: func(document) error {
				k.mu.Lock()
				defer k.mu.Unlock()
				<-time.After(k.takes)
				k.writes = append(k.writes, time.Since(k.start))
				return k.err
			}}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); k.run(ctx) }()
		defer func() { cancel(); <-done }()
		test(k)
		before := len(k.writes)
		cancel()
		<-done
		if after := len(k.writes); k.ready && after != before+1 {
			t.Errorf("%d writes at the end", after-before)
		}
	})
}

func (k *keeping) change() {
	select {
	case k.dirty <- struct{}{}:
	default:
	}
}

func (k *keeping) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (k *keeping) expect(t *testing.T, want ...time.Duration) {
	t.Helper()
	if len(k.writes) != len(want) {
		t.Fatalf("writes %v, want %v", k.writes, want)
	}
	for i := range want {
		if k.writes[i] != want[i] {
			t.Fatalf("writes %v, want %v", k.writes, want)
		}
	}
}

// A burst of changes is one write, a second after the first of them.
func TestKeeperDelay(t *testing.T) {
	keep(t, func(k *keeping) {
		for range 12 {
			k.change()
			k.wait(300 * time.Millisecond)
		}
		k.expect(t, time.Second, 2200*time.Millisecond, 3400*time.Millisecond)
	})
}

// Without a change the file is renewed, so that it does not grow old.
func TestKeeperRefresh(t *testing.T) {
	keep(t, func(k *keeping) {
		k.wait(3 * time.Minute)
		k.expect(t, time.Minute, 2*time.Minute, 3*time.Minute)
	})
	if a, b := refreshOf(time.Hour), refreshOf(time.Minute); a != 5*time.Minute || b != 15*time.Second {
		t.Errorf("%v, %v", a, b)
	}
}

// Nothing is written while nothing is fit to be; then at once.
func TestKeeperNotReady(t *testing.T) {
	keep(t, func(k *keeping) {
		k.set(func() { k.ready = false })
		k.change()
		k.wait(10 * time.Second)
		k.expect(t)
		k.set(func() { k.ready = true })
		k.wait(time.Second)
		k.expect(t, 11*time.Second)
		k.set(func() { k.ready = false }) // nor at the end
	})
}

// Slow writing takes its share of the time and no more.
func TestKeeperShare(t *testing.T) {
	keep(t, func(k *keeping) {
		k.set(func() { k.takes = time.Second })
		for range 50 {
			k.change()
			k.wait(time.Second)
		}
		k.expect(t, 2*time.Second, 23*time.Second, 44*time.Second)
	})
}

// A failure is told once, tried again, and its end is told too.
func TestKeeperFailure(t *testing.T) {
	keep(t, func(k *keeping) {
		k.set(func() { k.err = errors.New("no space left") })
		k.change()
		k.wait(25 * time.Second)
		k.expect(t, time.Second, 11*time.Second, 21*time.Second)
		if n := k.logs.FilterMessage("state could not be kept").Len(); n != 1 {
			t.Errorf("%d warnings", n)
		}
		k.set(func() { k.err = errors.New("read-only file system") })
		k.wait(10 * time.Second)
		k.set(func() { k.err = nil })
		k.wait(10 * time.Second)
		if all := k.logs.All(); len(all) != 3 || all[2].Message != "state is kept again" {
			t.Errorf("%v", all)
		}
		want := "fault begun state could not be kept: no space left, fault begun state could not be kept: read-only file system, fault over "
		if got := strings.Join(k.told, ", "); got != want {
			t.Error(got)
		}
	})
}

// Changes do not make a full disk be tried more often.
func TestKeeperFailureUnderChange(t *testing.T) {
	keep(t, func(k *keeping) {
		k.set(func() { k.err = errors.New("no space left") })
		for range 25 {
			k.change()
			k.wait(time.Second)
		}
		k.expect(t, time.Second, 11*time.Second, 21*time.Second)
	})
}
