package health

import "golang.org/x/sys/unix"

// yieldCore lets the threads that wait for the core go first (sched_yield(2)).
// A raw call: it returns when they have had their turn.
func yieldCore() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
