package app

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieTogether ends a process with the thread that began it, which outlives it
// unless the server dies. Signals to the server's group are not for it.
func dieTogether() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// cpuTime is what a process has had of the cores; see clock_getcpuclockid(3). To
// look into /proc would make its end longer.
func cpuTime(pid int) (time.Duration, error) {
	const ofProcess = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|ofProcess), &t); err != nil {
		return 0, fmt.Errorf("clock_gettime: %w", err)
	}
	return time.Duration(t.Nano()), nil
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
	if done, err := yields(want); done || err != nil {
		return err
	}
	if err := unix.SchedSetAttr(0, &want, 0); err != nil {
		return fmt.Errorf("sched_setattr: %w", err)
	}
	if done, err := yields(want); !done { // it would begin anew without end
		return errors.Join(errors.New("sched_setattr has no effect"), err)
	}
	return fmt.Errorf("execve: %w", syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

// yields tells whether the calling thread is as wanted. An idle one keeps the
// nice value that it had before, which then means nothing.
func yields(want unix.SchedAttr) (bool, error) {
	now, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return false, fmt.Errorf("sched_getattr: %w", err)
	}
	return now.Policy == want.Policy && (want.Policy == unix.SCHED_IDLE || now.Nice >= want.Nice), nil
}
