package probe

import (
	"context"
	"sync"
	"sync/atomic"
)

// turns runs calls that may be stuck in the kernel for as long as it likes, as
// the opening of a file on a dead network file system: one at a time, so that no
// more than one goroutine and one thread are lost to them. Its zero value is
// ready.
type turns struct {
	once  sync.Once
	taken chan struct{} // holds one while a call runs
	stuck atomic.Bool   // the call that runs has outlasted who wanted it
}

// do runs f in its turn. It is false, at once, while an earlier call is stuck, and
// when ctx ends first; f may run on then.
func (t *turns) do(ctx context.Context, f func()) bool {
	t.once.Do(func() { t.taken = make(chan struct{}, 1) })
	if t.stuck.Load() {
		return false
	}
	select {
	case t.taken <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	done := make(chan struct{})
	go func() {
		f()
		close(done)
		t.stuck.Store(false)
		<-t.taken
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	if ctx.Err() != context.DeadlineExceeded {
		return false // given up, which says nothing about f
	}
	t.stuck.Store(true)
	select {
	case <-done: // meanwhile, so that nobody else takes it back
		t.stuck.Store(false)
	default:
	}
	return false
}
