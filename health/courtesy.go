package health

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// repaid is how many times a wait must have passed without one.
	repaid = 3
	// credit is how much of that may be owed: sums of short waits, or a few long ones.
	credit = 150 * time.Millisecond
)

// Courtesy lets other threads have the core between two pieces of work. Rounds
// and decisions may come many at once, and a query should wait for one of them,
// not for as long as the kernel lets a thread run. But who needs the core all the
// time would get nearly all of it so: no more than a third of the time is lost to
// courtesy, in the long run. The zero value is ready; any goroutine may use it.
type Courtesy struct {
	Unbounded bool // whatever is lost: for work that has no right to the core

	yield func() // nil = yieldCore
	start sync.Once
	began time.Time
	owed  atomic.Int64 // since began: when all waits are repaid; of two at once one may not count
}

// GiveWay offers the core (sched_yield(2); on Linux alone).
func (c *Courtesy) GiveWay() {
	c.start.Do(func() { c.began = time.Now() })
	before := time.Since(c.began)
	owed := time.Duration(c.owed.Load())
	if !c.Unbounded && owed > before+credit {
		return
	}
	if c.yield == nil {
		yieldCore()
	} else {
		c.yield()
	}
	after := time.Since(c.began)
	owed = max(owed, before) + repaid*(after-before)
	c.owed.Store(int64(min(owed, after+2*credit))) // it may have been the machine that stood still
}
