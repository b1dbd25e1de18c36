package app

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// slice is the shortest that the kernel grants, in nanoseconds.
	slice = 100_000
	// slicePasses bounds how often threads are looked for: others may begin meanwhile.
	slicePasses = 10
)

// shortSlices asks the kernel for short time slices for all threads of this
// process; those to come inherit them. When a core is busy, the thread that a
// query wakes then waits a tenth of a millisecond for another one of ours, not
// one or more; the share that each gets of the core stays (EEVDF; Linux from 6.12
// on, before it nothing changes). No privilege is needed. Threads to which the
// operator has given another scheduling policy are left alone.
//
// Where a filter of system calls is active, as in containers and hardened
// services, it does not ask: the filter may end who does.
func shortSlices() error {
	if filtered() {
		return errors.New("a filter of system calls is active (seccomp)")
	}
	for range slicePasses {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		changed := false
		for _, task := range tasks {
			id, err := strconv.Atoi(task.Name())
			if err != nil {
				return err
			}
			one, err := shortSlice(id)
			if err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
				return err
			}
			changed = changed || one
		}
		if !changed {
			break
		}
	}
	return nil
}

// filtered tells whether this process may not make every system call.
func filtered() bool {
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && mode != 0
}

// shortSlice does so for one thread. It reports whether that has changed anything.
func shortSlice(id int) (changed bool, err error) {
	attr, err := unix.SchedGetAttr(id, 0)
	if err != nil {
		return false, fmt.Errorf("sched_getattr: %w", err)
	}
	if attr.Policy != unix.SCHED_NORMAL || attr.Runtime == slice {
		return false, nil
	}
	attr.Flags &= unix.SCHED_FLAG_RESET_ON_FORK
	attr.Runtime, attr.Deadline, attr.Period = slice, 0, 0
	if err := unix.SchedSetAttr(id, attr, 0); err != nil {
		return false, fmt.Errorf("sched_setattr: %w", err)
	}
	return true, nil
}

// untouch gives the system back what is behind b, which must begin and end with a
// page: the runtime writes zeros into new memory that it has used before.
func untouch(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) } // else it only takes memory
