//go:build unix

package health

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// spent is the processor time of this process, peers included.
func spent(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Each kind of hostile peer makes its member down, with a cause that status
// shows, and however long that goes on takes little time, memory and goroutines.
func TestHostilePeers(t *testing.T) {
	peers := hostilePeers(t)
	m := model(check())
	g := www()
	for i, p := range peers {
		name := fmt.Sprintf("check-%d", i)
		p.check.Name = name
		m.Checks[name] = p.check
		one := www(fmt.Sprintf("primary:%d:%s", i+1, name)).Members[0]
		one.Target.Addr, one.Target.Port = p.at.Addr(), p.at.Port()
		g.Members = append(g.Members, one)
	}
	m.Groups = append(m.Groups, g)
	e := New(Options{})
	e.Start()
	defer e.Stop()
	e.Apply(m, newTable(m), func() {})
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	rounds := func(n uint64) {
		for deadline := time.Now().Add(20 * time.Second); e.Stats().Failed < n; <-tick.C {
			if time.Now().After(deadline) {
				t.Fatalf("%+v", e.Stats())
			}
		}
	}
	rounds(uint64(4 * len(peers)))
	members := e.Status().Groups[0].Pools[0].Members
	for i, p := range peers {
		if got := members[i]; got.State != "down" || got.Checks[0].Error != p.reason {
			t.Errorf("%s: %s, %q; want down, %q", p.name, got.State, got.Checks[0].Error, p.reason)
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	from, time0, goroutines := e.Stats().Failed, spent(t), runtime.NumGoroutine()
	rounds(from + 200)
	n := e.Stats().Failed - from
	runtime.GC()
	runtime.ReadMemStats(&after)
	cost := (spent(t) - time0) / time.Duration(n)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	more := runtime.NumGoroutine() - goroutines
	t.Logf("%d rounds: %s each, heap %+d bytes, %+d goroutines", n, cost, grown, more)
	if cost > 20*time.Millisecond || grown > 16<<20 || more > 4*len(peers) {
		t.Errorf("%d rounds: %s each, heap %+d bytes, %+d goroutines", n, cost, grown, more)
	}
}
