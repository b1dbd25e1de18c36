package dnsserver

import (
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sharePort lets further sockets of this user bind the same address, or forbids it again; the kernel spreads the clients over them.
func sharePort(raw syscall.RawConn, on bool) error {
	value := 0
	if on {
		value = 1
	}
	return setInt(raw, unix.SOL_SOCKET, unix.SO_REUSEPORT, value)
}

// setOptions prepares a UDP socket for the address that it is to be bound to: before that, as the kernel heeds the options when it queues
// a message. Answers are never fragmented on hearsay: path MTU news, which anyone can forge, are ignored (as NSD and Knot do). Wildcard
// sockets are told the address that was asked.
func setOptions(raw syscall.RawConn, addr netip.AddrPort) error {
	level, mtu, omit, info := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_OMIT, unix.IP_PKTINFO
	if addr.Addr().Is6() {
		level, mtu, omit, info = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_OMIT, unix.IPV6_RECVPKTINFO
	}
	_ = setInt(raw, level, mtu, omit) // Linux before 3.15 has it not; all else works without
	if addr.Addr().IsUnspecified() {
		return setInt(raw, level, info, 1)
	}
	return nil
}

// setBuffer asks for a buffer of size bytes and tells how much the kernel granted; what it takes for itself, as much again, is left out.
func setBuffer(conn *net.UDPConn, receive bool, size int) (granted int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	option, force := unix.SO_SNDBUF, unix.SO_SNDBUFFORCE
	if receive {
		option, force = unix.SO_RCVBUF, unix.SO_RCVBUFFORCE
	}
	if setInt(raw, unix.SOL_SOCKET, force, size) != nil { // beyond the limit only with CAP_NET_ADMIN
		_ = setInt(raw, unix.SOL_SOCKET, option, size)
	}
	_ = raw.Control(func(fd uintptr) { granted, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, option) })
	return granted / 2
}

// setInt sets one socket option.
func setInt(raw syscall.RawConn, level, option, value int) error {
	var err error
	if failed := raw.Control(func(fd uintptr) {
		err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(int(fd), level, option, value))
	}); failed != nil {
		return failed
	}
	return err
}

// detach takes the socket out of conn, which is closed, and makes its calls wait. The runtime's poller, which serves conn, asks the
// kernel for news of every message that comes and of every one that has left: each costs a callback, and wakes the thread that
// waits for the poller, on the core that answers. Who waits in the socket itself costs nothing while it does not wait.
func detach(conn *net.UDPConn) (fd int, err error) {
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	if failed := raw.Control(func(shared uintptr) { fd, err = unix.FcntlInt(shared, unix.F_DUPFD_CLOEXEC, 0) }); failed != nil {
		return -1, failed
	}
	if err != nil {
		return -1, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		_ = unix.Close(fd)
		return -1, os.NewSyscallError("fcntl", err)
	}
	return fd, nil
}
