package app

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The ballast takes no memory of the system's.
func TestBallastIsNotResident(t *testing.T) {
	before := resident(t)
	b := ballast()
	if grown := resident(t) - before; len(b) != ballastSize || grown > ballastSize/4 {
		t.Errorf("%d bytes of ballast, resident memory grew by %d", len(b), grown)
	}
}

func resident(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// All threads get the short slice, those that begin later included; one with
// another policy is left alone.
func TestShortSlices(t *testing.T) {
	batch := make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}, 0); err != nil {
			t.Error(err)
		}
		batch <- unix.Gettid()
		<-batch
	}()
	other := <-batch
	defer func() { batch <- 0 }()
	if err := shortSlices(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		begun := make(chan bool)
		go func() { runtime.LockOSThread(); begun <- true; <-t.Context().Done() }()
		<-begun
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil || len(tasks) < 5 {
		t.Fatal(len(tasks), err)
	}
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		attr, err := unix.SchedGetAttr(id, 0)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			t.Fatal(err)
		}
		if short := attr.Runtime == slice; err == nil && slicesAreKept(t) && short == (id == other) {
			t.Errorf("thread %d: %+v, with another policy is %d", id, *attr, other)
		}
	}
}

// slicesAreKept tells whether the kernel does what it is asked for: from 6.12 on.
func slicesAreKept(t *testing.T) bool {
	var name unix.Utsname
	var major, minor int
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	return major > 6 || major == 6 && minor >= 12
}
