package probe

import (
	"context"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"
)

// A socket that met itself has found nobody: with a single port to choose from,
// the kernel always takes the target's.
func TestHandshakeWithItself(t *testing.T) {
	if !isolated(t) {
		return
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40000"), 0o644); err != nil {
		skip(t, err)
	}
	to := Target{Addr: local, Port: 40000}
	if itself, err := connect(context.Background(), netip.Addr{}, netip.AddrPortFrom(local, to.Port)); err != nil || !itself {
		t.Fatalf("the socket did not meet itself: %v, %v", itself, err)
	}
	want(t, run(t, tcpCheck(long, TCP{}), to), Fail, "connect: connection refused")
}

func TestHandshakeIPv6(t *testing.T) {
	if noIPv6() {
		return
	}
	want(t, run(t, tcpCheck(long, TCP{}), target(serveOn(t, "[::1]:0", hold))), Pass, "")
	free, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	want(t, run(t, tcpCheck(long, TCP{}), target(free.Addr().(*net.TCPAddr).AddrPort())), Fail, "connect: connection refused")
}

// While nobody answers, cancelling ends the wait, and no descriptor stays.
func TestHandshakeCancelled(t *testing.T) {
	if !child(t, nil) { // descriptors are counted
		return
	}
	at := fullPort(t)
	c := tcpCheck(long, TCP{})
	p, err := New(c, target(at), false)
	if err != nil {
		t.Fatal(err)
	}
	probe := func() {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(short, cancel)
		start := time.Now()
		want(t, Round(ctx, p, c), Fault, "cancelled")
		if took := time.Since(start); took > long/2 {
			t.Errorf("took %s", took)
		}
	}
	probe() // what the runtime opens once is open now
	before := openFiles(t)
	for range 5 {
		probe()
	}
	run(t, tcpCheck(short, TCP{}), target(at))
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// A handshake that is answered only when the SYN is sent again takes that time.
func TestHandshakeLate(t *testing.T) {
	t.Parallel()
	at, fd := fullQueue(t)
	time.AfterFunc(short, func() {
		if conn, _, err := syscall.Accept(fd); err == nil {
			_ = syscall.Close(conn)
		}
	})
	r := run(t, tcpCheck(long, TCP{}), target(at))
	want(t, r, Pass, "")
	if r.Latency < short {
		t.Errorf("latency %s", r.Latency)
	}
}
