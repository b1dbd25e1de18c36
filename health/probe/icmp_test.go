package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
)

func pingCheck() Check {
	return Check{Name: "ping", Type: "icmp", Timeout: long, ICMP: &ICMP{Count: 1, Size: 24}}
}

// Which sockets are tried, and what their errors mean.
func TestICMPSockets(t *testing.T) {
	no := func(call string, errno syscall.Errno) error {
		return &net.OpError{Op: "listen", Err: os.NewSyscallError(call, errno)}
	}
	const hint = "icmp: no permission (set sysctl net.ipv4.ping_group_range or grant CAP_NET_RAW)"
	for _, c := range []struct {
		addr   string
		echo   error // of the unprivileged socket
		ip     error // of the raw one
		raw    bool
		reason string
	}{
		{"127.0.0.1", nil, errors.New("not asked"), false, ""},
		{"127.0.0.1", no("socket", syscall.EACCES), nil, true, ""},
		{"127.0.0.1", no("socket", syscall.EPROTONOSUPPORT), nil, true, ""},
		{"127.0.0.1", no("socket", syscall.EACCES), no("socket", syscall.EPERM), true, hint},
		{"::1", no("socket", syscall.EACCES), no("socket", syscall.EPERM), true, hint},
		{"127.0.0.1", no("socket", syscall.EMFILE), nil, false, "icmp: no file descriptors left (raise LimitNOFILE or lower health.max_in_flight)"},
		{"127.0.0.1", no("socket", syscall.EAFNOSUPPORT), nil, false, "icmp: this machine lacks the address family"},
	} {
		addr := netip.MustParseAddr(c.addr)
		if addr.Is6() && noIPv6() {
			continue
		}
		p := icmpProber{common: common{timeout: long}, remote: addr, listen: func(network, _ string) error {
			if strings.Contains(network, "udp") {
				return c.echo
			}
			return c.ip
		}}
		raw, f := p.socket(context.Background())
		if raw != c.raw {
			t.Errorf("%v, %v: raw is %v", c.echo, c.ip, raw)
		}
		switch {
		case f == nil && c.reason != "":
			t.Errorf("%v, %v: no fault", c.echo, c.ip)
		case f != nil && (f.outcome != Fault || f.reason != c.reason):
			t.Errorf("got %s %q, want %q", word(f.outcome), f.reason, c.reason)
		}
	}
}

func TestICMPNoPermission(t *testing.T) {
	p := icmpProber{common: common{timeout: long}, remote: local, listen: func(string, string) error {
		return os.NewSyscallError("socket", syscall.EPERM)
	}}
	c := pingCheck()
	want(t, Round(context.Background(), &p, c), Fault, "icmp: no permission (set sysctl net.ipv4.ping_group_range or grant CAP_NET_RAW)")
}

func TestICMPCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := New(pingCheck(), Target{Addr: local}, false)
	if err != nil {
		t.Fatal(err)
	}
	r := Round(ctx, p, pingCheck())
	if r.Outcome == Fail {
		t.Errorf("cancelled, and got %s %q", word(r.Outcome), r.Reason)
	}
}
