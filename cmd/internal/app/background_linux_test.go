package app

import (
	"syscall"
	"testing"
)

// What runs in the background has the lowest priority, and the caller keeps its own.
func TestBackgroundPriority(t *testing.T) {
	nice := func() int {
		n, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
		if err != nil {
			t.Fatal(err)
		}
		return 20 - n // the system call says it so
	}
	before, inside := nice(), 0
	background(func() { inside = nice() })
	if inside != 19 {
		t.Errorf("nice %d in the background, want 19", inside)
	}
	if after := nice(); after != before {
		t.Errorf("nice %d afterwards, %d before", after, before)
	}
}

func TestBackgroundPanics(t *testing.T) {
	defer func() {
		if got := recover(); got != "boom" {
			t.Errorf("recovered %v", got)
		}
	}()
	background(func() { panic("boom") })
}
