//go:build !linux

package app

import (
	"errors"
	"syscall"
	"time"
)

// dieTogether is Linux's: elsewhere the process ends when nobody reads from it.
func dieTogether() *syscall.SysProcAttr { return nil }

// cpuTime does not know: no load is idle where nothing yields.
func cpuTime(pid int) (time.Duration, error) { return 0, errors.ErrUnsupported }

// Yield does nothing: idle scheduling and priorities of threads are Linux's.
func Yield(idle bool) error { return nil }
