package app

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieTogether ends a process with the thread that began it, which outlives it
// unless the server dies. Signals to the server's group are not for it.
func dieTogether() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// yieldProcess gives this process the lowest nice value, or lets every other one
// go before it (SCHED_IDLE): even at the lowest nice value it would now and then
// hold a core for a tick of some milliseconds that the kernel owes it. This is
// nothing for single threads of the server: one that stops the others, for the
// garbage collector, would wait for its turn while they do.
func yieldProcess(idle bool) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: 19}
	if idle {
		attr.Policy = unix.SCHED_IDLE
	}
	for _, t := range threads {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetAttr(tid, &attr, 0)
		}
	}
}
