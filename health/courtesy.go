package health

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// shortWait is what answering the queries that wait takes.
	shortWait = 300 * time.Microsecond
	// reserve is how often a longer wait is repaid before the core is offered again.
	reserve = 20
)

// courtesy lets other threads have the core between two pieces of work. Rounds
// and decisions may come many at once, and a query should wait for one of them,
// not for as long as the kernel lets a thread run. But who needs the core all the
// time would get nearly all of it so: after a long wait it is not offered for a
// while, and at most a twentieth is lost to courtesy. The zero value is ready.
type courtesy struct {
	yield func() // nil = yieldCore
	start sync.Once
	began time.Time
	until atomic.Int64 // since began: when the core is offered again
}

// giveWay offers the core.
func (c *courtesy) giveWay() {
	c.start.Do(func() { c.began = time.Now() })
	before := time.Since(c.began)
	if int64(before) < c.until.Load() {
		return
	}
	if c.yield == nil {
		yieldCore()
	} else {
		c.yield()
	}
	if waited := time.Since(c.began) - before; waited > shortWait {
		c.until.Store(int64(before + (reserve+1)*waited))
	}
}
