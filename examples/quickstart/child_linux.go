package main

import "syscall"

// endWithParent makes the system end a child when its parent dies.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
