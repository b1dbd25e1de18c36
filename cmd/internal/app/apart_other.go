//go:build !linux

package app

import "syscall"

// dieTogether is Linux's: elsewhere the process ends when nobody reads from it.
func dieTogether() *syscall.SysProcAttr { return nil }

// Yield does nothing: idle scheduling and priorities of threads are Linux's.
func Yield(idle bool) error { return nil }
