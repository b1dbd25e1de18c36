package probe

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// bindLate binds the source address without reserving a port for it, so that
// one source can have as many connections per target as there are ports.
func bindLate(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { lateBind(int(fd)) })
}

// lateBind is bindLate for a descriptor. Kernels without the option merely
// have fewer ports.
func lateBind(fd int) { _ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) }
