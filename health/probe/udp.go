package probe

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
)

type udpProber struct {
	common
	opts   UDP
	remote netip.AddrPort
}

func newUDP(c Check, t Target, base common) (Prober, error) {
	return &udpProber{common: base, opts: *c.UDP, remote: netip.AddrPortFrom(t.Addr, c.Port(t))}, nil
}

// Probe sends one datagram and judges the first that comes back.
func (p *udpProber) Probe(ctx context.Context) Result {
	tr := p.begin()
	conn, f := p.dialUDP(ctx, p.remote)
	if f != nil {
		return tr.end(f)
	}
	defer conn.Close()
	defer guard(ctx, conn)()
	if _, err := conn.Write(p.opts.Send); err != nil {
		return tr.end(p.unsent(ctx, err))
	}
	tr.add("send", "%d bytes from %s to %s", len(p.opts.Send), conn.LocalAddr(), p.remote)
	// One byte more than can match tells a longer datagram apart.
	buf := make([]byte, max(len(p.opts.Expect)+1, 2*maxText))
	n, err := conn.Read(buf)
	if err != nil {
		return tr.end(p.unanswered(ctx, err))
	}
	tr.add("reply", "%s", quote(string(buf[:n])))
	if len(p.opts.Expect) > 0 && !bytes.Equal(buf[:n], p.opts.Expect) {
		return tr.end(failed("reply %s, want %s", quote(string(buf[:n])), quote(string(p.opts.Expect))))
	}
	return tr.pass()
}

// dialUDP makes a new socket that takes datagrams from remote alone: another
// address or port, or what is late for an earlier socket, never reaches it.
func (c *common) dialUDP(ctx context.Context, remote netip.AddrPort) (*net.UDPConn, *failure) {
	d := net.Dialer{}
	if c.local.IsValid() {
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.local, 0))
	}
	conn, err := d.DialContext(ctx, "udp", remote.String())
	if err == nil {
		return conn.(*net.UDPConn), nil
	}
	if f := localCause(err, c.local, remote.Addr()); f != nil {
		return nil, f
	}
	return nil, classify(ctx, "connect", err, c.timeout)
}

// unsent words why a datagram could not be sent. An earlier one may already
// have been refused.
func (c *common) unsent(ctx context.Context, err error) *failure {
	if errnoOf(err) == syscall.ECONNREFUSED {
		return c.unanswered(ctx, err)
	}
	return classify(ctx, "send", err, c.timeout)
}

// unanswered words why a datagram was not answered. What the kernel reports
// while a socket waits came in an ICMP message, so the target's side is to
// blame: the numbers that stand for a local firewall on the way out mean a
// remote one here (RFC 4443 section 3.1, codes 1, 5 and 6).
func (c *common) unanswered(ctx context.Context, err error) *failure {
	switch errno := errnoOf(err); {
	case ctx.Err() == context.Canceled:
	case errno == syscall.ECONNREFUSED:
		return failed("port unreachable")
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return failed("unreachable: forbidden by a firewall on the way")
	case errno == syscall.ENETUNREACH:
		return failed("network unreachable")
	case errno == syscall.EHOSTUNREACH:
		return failed("host unreachable")
	}
	return classify(ctx, "", err, c.timeout)
}
