//go:build !linux

package app

// yieldThread does nothing: priorities of threads are Linux's.
func yieldThread() {}
