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

// yieldProcess lets every other process go before this one (SCHED_IDLE): even
// at the lowest nice value it would now and then hold a core for a tick of some
// milliseconds that the kernel owes it.
func yieldProcess() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: 19}, 0)
		}
	}
}
