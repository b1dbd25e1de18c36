package dnsserver

import "sync/atomic"

const (
	fewWaits       = 150 // in a second: below, the runtime is left alone
	yieldsInSecond = 256 // wanted, well above one every 10 ms
)

// waits tells a worker when to pass the runtime's scheduler: some 256 times a second. From a goroutine that has not done so for 10 ms
// the runtime takes the right to run in every system call that its monitor meets (Go 1.26), which keeps the monitor awake: at 1,000 to
// 10,000 waits a second that costs nearly as much as the answers. Where waits are few and long it costs least.
type waits struct {
	clock  *atomic.Uint32 // seconds
	second uint32         // that is counted
	n      int            // waits in it
	every  int            // so many waits a yield; 0: none
}

// yield counts a wait that is about to begin and reports whether the scheduler shall be passed before it. What it says of this second's
// waits follows from their number in the last one that had any.
func (w *waits) yield() bool {
	if now := w.clock.Load(); now != w.second {
		w.every = 0
		if w.n > fewWaits {
			w.every = max(1, w.n/yieldsInSecond)
		}
		w.second, w.n = now, 0
	}
	w.n++
	return w.every > 0 && w.n%w.every == 0
}
