//go:build !linux

package probe

import "syscall"

// bindLate has no counterpart here: the port is reserved when bound.
func bindLate(_, _ string, _ syscall.RawConn) error { return nil }
