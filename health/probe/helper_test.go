package probe

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// local is the address that most targets listen on.
var local = netip.MustParseAddr("127.0.0.1")

// long is a timeout that no passing test reaches, short one that some wait for.
const (
	long  = 5 * time.Second
	short = 80 * time.Millisecond
)

// serve accepts connections on a free port of 127.0.0.1 and hands each to
// handle, which owns it until it returns.
func serve(t testing.TB, handle func(net.Conn)) netip.AddrPort {
	t.Helper()
	return serveOn(t, "127.0.0.1:0", handle)
}

func serveOn(t testing.TB, address string, handle func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			go func() {
				defer stop()
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	t.Cleanup(func() { cancel(); l.Close(); <-done })
	return netip.MustParseAddrPort(l.Addr().String())
}

// say answers every HTTP request with the given bytes and closes.
func say(reply string) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = conn.Write([]byte(reply))
		}
	}
}

// hold keeps a connection open without a word until the peer goes.
func hold(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// trickle writes text byte by byte at a pace far slower than short.
func trickle(text string) func(net.Conn) {
	return func(conn net.Conn) {
		tick := time.NewTicker(short / 3)
		defer tick.Stop()
		for i := range len(text) {
			if _, err := conn.Write([]byte{text[i]}); err != nil {
				return
			}
			<-tick.C
		}
	}
}

// web starts an HTTP server and returns its address.
func web(t testing.TB, h http.HandlerFunc) netip.AddrPort {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return netip.MustParseAddrPort(s.Listener.Addr().String())
}

// closedPort is an address on which nothing listens, and nothing can: a
// connection leaves from it.
func closedPort(t testing.TB) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return netip.MustParseAddrPort(conn.LocalAddr().String())
}

func target(at netip.AddrPort) Target {
	return Target{Addr: at.Addr(), Port: at.Port(), Name: "www.example"}
}

func tcpCheck(timeout time.Duration, o TCP) Check {
	return Check{Name: "t", Type: "tcp", Interval: 10 * time.Second, Timeout: timeout, Fall: 2, Rise: 3, TCP: &o}
}

// httpCheck is the default check of type http with changes.
func httpCheck(timeout time.Duration, change func(*HTTP)) Check {
	o := HTTP{
		Scheme: "http", Port: 80, Method: "HEAD", Path: "/", Status: []StatusRange{{200, 299}},
		Version: "1.1", Verify: true, UserAgent: "gslbd/test",
	}
	if change != nil {
		change(&o)
	}
	return Check{Name: "w", Type: "http", Interval: 10 * time.Second, Timeout: timeout, Fall: 2, Rise: 3, HTTP: &o}
}

// run makes the prober and runs one round.
func run(t testing.TB, c Check, to Target) Result {
	t.Helper()
	p, err := New(c, to, false)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return Round(context.Background(), p, c)
}

// want compares an outcome and the exact reason.
func want(t testing.TB, got Result, outcome Outcome, reason string) {
	t.Helper()
	if got.Outcome != outcome || got.Reason != reason {
		t.Errorf("got %s %q\nwant %s %q", word(got.Outcome), got.Reason, word(outcome), reason)
	}
	if (got.Outcome == Pass) != (got.Latency > 0) {
		t.Errorf("%s with latency %s", word(got.Outcome), got.Latency)
	}
}

func word(o Outcome) string {
	if o < Pass || o > Unknown {
		return "no outcome"
	}
	return [...]string{Pass: "pass", Fail: "fail", Fault: "fault", Unknown: "unknown"}[o]
}

// child runs the calling test again in a process of its own. It returns true
// inside that process; the parent gets false, and the child's verdict.
func child(t *testing.T, attr *syscall.SysProcAttr) bool {
	t.Helper()
	const mark = "GSLBD_PROBE_CHILD"
	if os.Getenv(mark) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"="+t.Name())
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
	case errors.Is(err, syscall.EPERM):
		skip(t, err)
	default:
		t.Errorf("in the child: %v\n%s", err, out)
	}
	return false
}

// skip leaves out what this machine does not allow; CI must allow it.
func skip(t testing.TB, why ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why...)
	}
	t.Skip(why...)
}

// noIPv6 says that this machine has no IPv6 loopback.
func noIPv6() bool { return route(netip.Addr{}, netip.IPv6Loopback()) != nil }
