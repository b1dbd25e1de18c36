package app

import (
	"runtime"
	"syscall"
)

// yieldThread gives the calling goroutine a thread of its own that everything else goes before: when a query arrives, the kernel takes
// the core from it. The thread ends with the goroutine, since a lower priority cannot be taken back without privileges.
func yieldThread() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), 19) // without it, loading only is in the way
}
