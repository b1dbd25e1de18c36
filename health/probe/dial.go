package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// sourceFor picks the source address of the target's family; the zero Addr
// when none is configured.
func sourceFor(sources []netip.Addr, target netip.Addr) (netip.Addr, error) {
	if len(sources) == 0 {
		return netip.Addr{}, nil
	}
	for _, s := range sources {
		if s = s.Unmap(); s.Is4() == target.Is4() {
			return s, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("no %s source address for target %s", family(target), target)
}

func family(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// dial opens a new TCP connection from the source address, if one is set.
func (c *common) dial(ctx context.Context, local netip.Addr, remote netip.AddrPort) (*net.TCPConn, *failure) {
	d := net.Dialer{KeepAlive: -1}
	if local.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(local, 0))
		d.Control = bindLate
	}
	conn, err := d.DialContext(ctx, "tcp", remote.String())
	if err == nil {
		return conn.(*net.TCPConn), nil
	}
	return nil, c.connectFailure(ctx, err, local, remote)
}

// dialOnly opens a connection and resets it.
func (c *common) dialOnly(ctx context.Context, local netip.Addr, remote netip.AddrPort) *failure {
	conn, f := c.dial(ctx, local, remote)
	if f != nil {
		return f
	}
	_ = conn.SetLinger(0)
	_ = conn.Close()
	return nil
}

// connectFailure says why a connection was not made.
func (c *common) connectFailure(ctx context.Context, err error, local netip.Addr, remote netip.AddrPort) *failure {
	if f := localCause(err, local, remote.Addr()); f != nil {
		return f
	}
	return classify(ctx, "connect", err, c.timeout)
}

// localCause finds the faults of our own that an error alone does not show:
// a source address that is not ours, and the lack of a route, which a router
// on the way reports with the same number.
func localCause(err error, local, remote netip.Addr) *failure {
	var call *os.SyscallError
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL) && errors.As(err, &call) && call.Syscall == "bind":
		return fault("source %s is not an address of this machine", local)
	case errors.Is(err, syscall.ENETUNREACH) && errors.Is(route(local, remote), syscall.ENETUNREACH):
		return fault("no %s route from this machine", family(remote))
	}
	return nil
}

// route reports why this machine cannot send to remote at all. Connecting a
// UDP socket asks the kernel for a route and sends nothing.
func route(local, remote netip.Addr) error {
	d := net.Dialer{}
	if local.IsValid() {
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(local, 0))
	}
	conn, err := d.Dial("udp", netip.AddrPortFrom(remote, 9).String())
	if err != nil {
		return err
	}
	return conn.Close()
}

// guard makes conn obey ctx: its deadline, and cancellation. The returned
// function ends the watch.
func guard(ctx context.Context, conn net.Conn) func() bool {
	if at, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(at)
	}
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}
