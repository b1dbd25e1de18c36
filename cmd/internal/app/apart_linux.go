package app

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieTogether ends a process with the thread that began it, which outlives it
// unless the server dies. Signals to the server's group are not for it.
func dieTogether() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// Yield gives this process the lowest nice value, or lets every other one go
// before it (SCHED_IDLE): even at the lowest nice value it would now and then
// hold a core for a tick of some milliseconds that the kernel owes it. It begins
// the program anew, so that all its threads are so from the first on. An error is
// that of the system; then nothing has changed, but perhaps for one thread.
func Yield(idle bool) error {
	want := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: 19}
	if idle {
		want.Policy, want.Nice = unix.SCHED_IDLE, 0
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now, err := unix.SchedGetAttr(0, 0)
	if err != nil || now.Policy == want.Policy && now.Nice >= want.Nice {
		return err
	}
	if err := unix.SchedSetAttr(0, &want, 0); err != nil {
		return fmt.Errorf("sched_setattr: %w", err)
	}
	return fmt.Errorf("execve: %w", syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

// rest lets the threads that wait for the core go first (sched_yield(2)): what
// the server itself does for a reload, it does in small pieces.
func rest() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
