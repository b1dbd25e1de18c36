package probe

import (
	"context"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// handshake completes a TCP handshake and resets the connection. It is dial
// without what a check needs that neither sends nor reads: half the CPU time,
// which counts where ten thousand targets are probed each second.
func (c *common) handshake(ctx context.Context, local netip.Addr, remote netip.AddrPort) *failure {
	if remote.Addr().Zone() != "" {
		return c.dialOnly(ctx, local, remote)
	}
	for range 3 {
		itself, err := connect(ctx, local, remote)
		switch {
		case err != nil:
			return c.connectFailure(ctx, err, local, remote)
		case !itself:
			return nil
		}
	}
	return failed("connect: %s", unix.ECONNREFUSED)
}

// connect makes one handshake. On this machine's own addresses the kernel may
// choose the target's port as the source, and the socket meets itself: then
// nobody listens there, and another port is to be tried.
func connect(ctx context.Context, local netip.Addr, remote netip.AddrPort) (itself bool, err error) {
	family := unix.AF_INET
	if remote.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, os.NewSyscallError("socket", err)
	}
	s := socket{fd: fd, remote: sockaddr(remote)}
	defer s.close()
	if err := s.bind(local); err != nil {
		return false, err
	}
	if err := unix.Connect(fd, s.remote); err != nil && err != unix.EINPROGRESS {
		return false, os.NewSyscallError("connect", err)
	}
	if err := s.wait(ctx); err != nil {
		return false, err
	}
	from, err := unix.Getsockname(fd)
	if err != nil {
		return false, os.NewSyscallError("getsockname", err)
	}
	return same(from, s.remote), nil
}

// socket is one non-blocking TCP socket.
type socket struct {
	fd     int
	remote unix.Sockaddr
	file   *os.File // owns fd once the runtime's poller watches it
}

// bind sets the source address, if there is one, and that closing resets.
func (s *socket) bind(local netip.Addr) error {
	if err := unix.SetsockoptLinger(s.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if !local.IsValid() {
		return nil
	}
	lateBind(s.fd)
	return os.NewSyscallError("bind", unix.Bind(s.fd, sockaddr(netip.AddrPortFrom(local, 0))))
}

// wait returns when the handshake has ended. Near targets have answered by
// now, so the poller is asked only if they have not.
func (s *socket) wait(ctx context.Context) error {
	done, err := s.connected()
	if done {
		return err
	}
	s.file = os.NewFile(uintptr(s.fd), "")
	raw, rawErr := s.file.SyscallConn()
	if rawErr != nil {
		return rawErr
	}
	if at, ok := ctx.Deadline(); ok {
		_ = s.file.SetWriteDeadline(at)
	}
	defer context.AfterFunc(ctx, func() { _ = s.file.SetWriteDeadline(time.Unix(1, 0)) })()
	waitErr := raw.Write(func(uintptr) bool {
		done, err = s.connected()
		return done
	})
	if waitErr != nil {
		return waitErr
	}
	return err
}

// connected asks how the handshake that was begun stands: connecting again
// says so without beginning another.
func (s *socket) connected() (done bool, err error) {
	switch err := unix.Connect(s.fd, s.remote); err {
	case nil, unix.EISCONN:
		return true, nil
	case unix.EALREADY, unix.EINPROGRESS, unix.EINTR:
		return false, nil
	default:
		return true, os.NewSyscallError("connect", err)
	}
}

func (s *socket) close() {
	if s.file != nil {
		_ = s.file.Close()
		return
	}
	_ = unix.Close(s.fd)
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// same compares two addresses with their ports.
func same(a, b unix.Sockaddr) bool {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		b, ok := b.(*unix.SockaddrInet4)
		return ok && a.Port == b.Port && a.Addr == b.Addr
	case *unix.SockaddrInet6:
		b, ok := b.(*unix.SockaddrInet6)
		return ok && a.Port == b.Port && a.Addr == b.Addr
	}
	return false
}
