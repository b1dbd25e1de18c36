package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
)

func opErr(call string, errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError(call, errno)}
}

// The table of README.md, row by row.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		phase   string
		err     error
		outcome Outcome
		reason  string
	}{
		{"connect", opErr("connect", syscall.ECONNREFUSED), Fail, "connect: connection refused"},
		{"connect", opErr("connect", syscall.ECONNRESET), Fail, "connect: connection reset by peer"},
		{"", opErr("read", syscall.ECONNRESET), Fail, "connection closed before a reply"},
		{"tls", opErr("write", syscall.EPIPE), Fail, "tls: connection closed before a reply"},
		{"connect", opErr("connect", syscall.EHOSTUNREACH), Fail, "connect: no route to host"},
		{"connect", opErr("connect", syscall.ENETUNREACH), Fail, "connect: network is unreachable"},
		{"connect", opErr("connect", syscall.ETIMEDOUT), Fail, "connect: connection timed out"},
		{"connect", opErr("socket", syscall.EMFILE), Fault, "connect: no file descriptors left (raise LimitNOFILE or lower health.max_in_flight)"},
		{"connect", opErr("socket", syscall.ENFILE), Fault, "connect: no file descriptors left (raise LimitNOFILE or lower health.max_in_flight)"},
		{"connect", opErr("connect", syscall.ENOBUFS), Fault, "connect: no buffer space on this machine"},
		{"connect", opErr("connect", syscall.ENOMEM), Fault, "connect: no buffer space on this machine"},
		{"connect", opErr("connect", syscall.EPERM), Fault, "connect: operation not permitted (a local firewall or route forbids it)"},
		{"connect", opErr("connect", syscall.EACCES), Fault, "connect: permission denied (a local firewall or route forbids it)"},
		{"connect", opErr("connect", syscall.ENETDOWN), Fault, "connect: this machine's network is down"},
		{"connect", opErr("socket", syscall.EAFNOSUPPORT), Fault, "connect: this machine lacks the address family"},
		{"connect", opErr("connect", syscall.EADDRNOTAVAIL), Fault, "connect: no local address or port free"},
		{"connect", opErr("bind", syscall.EADDRINUSE), Fault, "connect: no local address or port free"},
		{"connect", opErr("bind", syscall.EINVAL), Fault, "connect: bind: invalid argument"},
		{"connect", opErr("setsockopt", syscall.EINVAL), Fault, "connect: setsockopt: invalid argument"},
		{"connect", opErr("connect", syscall.EINVAL), Fail, "connect: invalid argument"},
		{"", context.DeadlineExceeded, Fail, "no reply in 5s"},
		{"tls", os.ErrDeadlineExceeded, Fail, "tls: no reply in 5s"},
		{"", io.EOF, Fail, "connection closed before a reply"},
		{"tls", io.ErrUnexpectedEOF, Fail, "tls: connection closed before a reply"},
		{"", context.Canceled, Fault, "cancelled"},
		{"", fmt.Errorf("wrapped: %w", failed("from a library")), Fail, "from a library"},
		{"tls", &net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}, Fail, "tls: handshake failure"},
		{"", errors.New("bell \a and " + strings.Repeat("x", 200)), Fail, `"bell \a and ` + strings.Repeat("x", 86) + `"…`},
	} {
		f := classify(context.Background(), c.phase, c.err, long)
		if f.outcome != c.outcome || f.reason != c.reason {
			t.Errorf("%v:\ngot  %s %q\nwant %s %q", c.err, word(f.outcome), f.reason, word(c.outcome), c.reason)
		}
	}
}

func TestClassifyCancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if f := classify(ctx, "connect", opErr("read", syscall.ECONNRESET), long); f.outcome != Fault || f.reason != "cancelled" {
		t.Errorf("got %s %q", word(f.outcome), f.reason)
	}
}

func TestNewRefuses(t *testing.T) {
	v6only := tcpCheck(long, TCP{Port: 1})
	v6only.Source = []netip.Addr{netip.IPv6Loopback()}
	to := Target{Addr: local, Port: 80, Name: "www.example"}
	for _, c := range []struct {
		check  Check
		target Target
		want   string
	}{
		{v6only, to, "no IPv4 source address for target 127.0.0.1"},
		{tcpCheck(long, TCP{}), Target{}, "target has no address"},
		{Check{Type: "ftp"}, to, `check type "ftp" is unknown`},
		{Check{Type: "icmp", ICMP: &ICMP{Size: 8}}, to, "size 8 is less than 24 bytes"},
	} {
		if _, err := New(c.check, c.target, false); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
