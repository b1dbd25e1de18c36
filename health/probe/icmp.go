package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	probing "github.com/prometheus-community/pro-bing"
	"golang.org/x/net/icmp"
)

// minPing is the least payload: pro-bing tells its replies apart by a time
// stamp and a UUID in it.
const minPing = 24

type icmpProber struct {
	common
	opts   ICMP
	remote netip.Addr
	listen func(network, address string) error // opens and closes a socket
}

func newICMP(c Check, t Target, base common) (Prober, error) {
	if c.ICMP.Size < minPing {
		return nil, fmt.Errorf("size %d is less than %d bytes", c.ICMP.Size, minPing)
	}
	return &icmpProber{common: base, opts: *c.ICMP, remote: t.Addr, listen: tryListen}, nil
}

func tryListen(network, address string) error {
	conn, err := icmp.ListenPacket(network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Probe sends up to Count echo requests, spread over the timeout, until one
// is answered. The latency is that reply's round trip.
func (p *icmpProber) Probe(ctx context.Context) Result {
	tr := p.begin()
	raw, f := p.socket(ctx)
	if f != nil {
		return tr.end(f)
	}
	if raw {
		tr.add("socket", "raw")
	} else {
		tr.add("socket", "unprivileged")
	}
	rtt, f := p.ping(ctx, p.pinger(raw))
	if f != nil {
		return tr.end(f)
	}
	tr.add("reply", "from %s in %s", p.remote, rtt)
	r := tr.pass()
	r.Latency = min(max(rtt, 1), r.Latency) // rtt is by the wall clock, which may step
	return r
}

// socket finds out which kind of socket the kernel allows, every time, since
// that can change; and that there is a route, since pro-bing would repeat a
// send that a route forbids for ever.
func (p *icmpProber) socket(ctx context.Context) (raw bool, f *failure) {
	if err := route(p.local, p.remote); err != nil {
		return false, p.explain(ctx, err)
	}
	echo, ip := "udp4", "ip4:icmp"
	if p.remote.Is6() {
		echo, ip = "udp6", "ip6:ipv6-icmp"
	}
	err := p.listen(echo, p.source())
	if denied(err) || errors.Is(err, syscall.EPROTONOSUPPORT) {
		raw, err = true, p.listen(ip, p.source())
	}
	return raw, p.explain(ctx, err)
}

func (p *icmpProber) source() string {
	if p.local.IsValid() {
		return p.local.String()
	}
	return ""
}

func denied(err error) bool {
	return errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM)
}

// explain classifies an error of this machine's side of ICMP; nil stays nil.
func (p *icmpProber) explain(ctx context.Context, err error) *failure {
	if err == nil {
		return nil
	}
	if f := localCause(err, p.local, p.remote); f != nil {
		return f
	}
	var call *os.SyscallError
	if denied(err) && errors.As(err, &call) && call.Syscall == "socket" {
		return fault("icmp: no permission (set sysctl net.ipv4.ping_group_range or grant CAP_NET_RAW)")
	}
	return classify(ctx, "icmp", err, p.timeout)
}

func (p *icmpProber) pinger(raw bool) *probing.Pinger {
	g := probing.New("")
	g.SetIPAddr(&net.IPAddr{IP: p.remote.AsSlice(), Zone: p.remote.Zone()})
	g.SetPrivileged(raw)
	g.SetLogger(probing.NoopLogger{})
	g.RecordRtts, g.RecordTTLs = false, false
	g.Size = p.opts.Size
	g.Count = max(p.opts.Count, 1)
	g.Interval = max(p.timeout/time.Duration(g.Count), time.Millisecond)
	g.Source = p.source()
	return g
}

// ping returns at the first reply or at the end of ctx; pro-bing itself needs
// up to 100 ms more to notice and ends on its own.
func (p *icmpProber) ping(ctx context.Context, g *probing.Pinger) (time.Duration, *failure) {
	reply, done := make(chan time.Duration, 1), make(chan error, 1)
	var unsent atomic.Pointer[failure]
	g.OnRecv = func(pkt *probing.Packet) {
		select {
		case reply <- pkt.Rtt:
			g.Stop()
		default:
		}
	}
	g.OnSendError = func(_ *probing.Packet, err error) { unsent.Store(p.explain(ctx, err)) }
	go func() { done <- g.RunWithContext(ctx) }()
	var err error
	select {
	case rtt := <-reply:
		return rtt, nil
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	select {
	case rtt := <-reply:
		return rtt, nil
	default:
	}
	if f := unsent.Load(); f != nil {
		return 0, f
	}
	if err == nil || timedOut(err) {
		return 0, failed("no reply in %s", p.timeout)
	}
	return 0, p.explain(ctx, err)
}
