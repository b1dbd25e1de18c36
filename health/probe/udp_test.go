package probe

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func udpCheck(timeout time.Duration, o UDP) Check {
	return Check{Name: "u", Type: "udp", Interval: 10 * time.Second, Timeout: timeout, Fall: 2, Rise: 3, UDP: &o}
}

// datagram is one that a target received.
type datagram struct {
	data []byte
	from netip.AddrPort
	conn *net.UDPConn
}

func (d datagram) reply(text string) { _, _ = d.conn.WriteToUDPAddrPort([]byte(text), d.from) }

// packets receives datagrams on a free port of 127.0.0.1.
func packets(t testing.TB, handle func(datagram)) netip.AddrPort {
	t.Helper()
	return packetsOn(t, "127.0.0.1:0", handle)
}

func packetsOn(t testing.TB, address string, handle func(datagram)) netip.AddrPort {
	t.Helper()
	conn := packetSocket(t, address)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 65536)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			handle(datagram{append([]byte(nil), buf[:n]...), from, conn})
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return netip.MustParseAddrPort(conn.LocalAddr().String())
}

func packetSocket(t testing.TB, address string) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.UDPConn)
}

// closedUDP is an address on which nothing listens.
func closedUDP(t testing.TB) netip.AddrPort {
	t.Helper()
	conn := packetSocket(t, "127.0.0.1:0")
	defer conn.Close()
	return netip.MustParseAddrPort(conn.LocalAddr().String())
}

func TestUDP(t *testing.T) {
	echo := func(d datagram) { d.reply(string(d.data)) }
	always := func(text string) func(datagram) { return func(d datagram) { d.reply(text) } }
	silent := func(datagram) {}
	most := strings.Repeat("€", 500)
	for _, c := range []struct {
		about      string
		handle     func(datagram)
		send, want string
		timeout    time.Duration
		outcome    Outcome
		reason     string
	}{
		{"the reply wanted", echo, "PING", "PING", long, Pass, ""},
		{"any reply", always("whatever"), "PING", "", long, Pass, ""},
		{"an empty reply, any wanted", always(""), "PING", "", long, Pass, ""},
		{"an empty request", echo, "", "", long, Pass, ""},
		{"bytes", echo, "\x00\xff", "\x00\xff", long, Pass, ""},
		{"the longest", echo, most, most, long, Pass, ""},
		{"another reply", always("BUSY"), "PING", "PONG", long, Fail, `reply "BUSY", want "PONG"`},
		{"an empty reply", always(""), "PING", "PONG", long, Fail, `reply "", want "PONG"`},
		{"the start of the reply", always("PON"), "PING", "PONG", long, Fail, `reply "PON", want "PONG"`},
		{"a longer reply", always("PONG\n"), "PING", "PONG", long, Fail, `reply "PONG\n", want "PONG"`},
		{"contained, not equal", always("xPONGx"), "PING", "PONG", long, Fail, `reply "xPONGx", want "PONG"`},
		{"control characters", always("\x1b[2J"), "PING", "PONG", long, Fail, `reply "\x1b[2J", want "PONG"`},
		{"a huge reply", always(strings.Repeat("A", 60000)), "PING", "PONG", long, Fail,
			`reply "` + strings.Repeat("A", 98) + `"…, want "PONG"`},
		{"a huge reply, any wanted", always(strings.Repeat("A", 60000)), "PING", "", long, Pass, ""},
		{"silence", silent, "PING", "PONG", short, Fail, "no reply in 80ms"},
		{"silence, any wanted", silent, "PING", "", short, Fail, "no reply in 80ms"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			at := packets(t, c.handle)
			want(t, run(t, udpCheck(c.timeout, UDP{Send: []byte(c.send), Expect: []byte(c.want)}), target(at)), c.outcome, c.reason)
		})
	}
}

func TestUDPUnreachable(t *testing.T) {
	start := time.Now()
	want(t, run(t, udpCheck(long, UDP{Send: []byte("x")}), target(closedUDP(t))), Fail, "port unreachable")
	if took := time.Since(start); took > long/2 {
		t.Errorf("took %s", took)
	}
	c := common{timeout: long}
	ctx := context.Background()
	read := func(e syscall.Errno) error { return &net.OpError{Op: "read", Err: os.NewSyscallError("read", e)} }
	for errno, reason := range map[syscall.Errno]string{
		syscall.ECONNREFUSED: "port unreachable",
		syscall.EHOSTUNREACH: "host unreachable",
		syscall.ENETUNREACH:  "network unreachable",
		syscall.EACCES:       "unreachable: forbidden by a firewall on the way",
		syscall.EPERM:        "unreachable: forbidden by a firewall on the way",
		syscall.EPROTO:       "protocol error",
	} {
		if f := c.unanswered(ctx, read(errno)); f.outcome != Fail || f.reason != reason {
			t.Errorf("%v: %v", errno, f)
		}
	}
	want := map[syscall.Errno]failure{
		syscall.EPERM:        {Fault, "send: operation not permitted (a local firewall or route forbids it)"},
		syscall.ENOBUFS:      {Fault, "send: no buffer space on this machine"},
		syscall.ECONNREFUSED: {Fail, "port unreachable"},
	}
	for errno, w := range want {
		if f := c.unsent(ctx, read(errno)); *f != w {
			t.Errorf("%v: %v", errno, f)
		}
	}
}

// A reply from another address or another port is not the target's.
func TestUDPOtherSender(t *testing.T) {
	elsewhere := map[string]func(at netip.AddrPort) *net.UDPConn{
		"another address": func(at netip.AddrPort) *net.UDPConn { return packetSocket(t, "127.0.0.2:"+portText(at)) },
		"another port":    func(netip.AddrPort) *net.UDPConn { return packetSocket(t, "127.0.0.1:0") },
	}
	for about, open := range elsewhere {
		for _, own := range []bool{false, true} {
			other := make(chan *net.UDPConn, 1)
			at := packets(t, func(d datagram) {
				conn := <-other
				_, _ = conn.WriteToUDPAddrPort([]byte("PONG"), d.from)
				if own {
					d.reply("BUSY")
				}
			})
			other <- open(at)
			outcome, reason, timeout := Fail, "no reply in 80ms", short
			if own {
				reason, timeout = `reply "BUSY", want "PONG"`, long
			}
			t.Log(about)
			want(t, run(t, udpCheck(timeout, UDP{Send: []byte("PING"), Expect: []byte("PONG")}), target(at)), outcome, reason)
		}
	}
}

// What comes late for one try does not pass the next.
func TestUDPLateReply(t *testing.T) {
	var mu sync.Mutex
	var senders []netip.AddrPort
	at := packets(t, func(d datagram) {
		mu.Lock()
		defer mu.Unlock()
		senders = append(senders, d.from)
		if len(senders) > 1 { // too late for the first
			_, _ = d.conn.WriteToUDPAddrPort([]byte("PONG"), senders[0])
		}
	})
	c := udpCheck(short, UDP{Send: []byte("PING"), Expect: []byte("PONG")})
	c.Retries = 2
	want(t, run(t, c, target(at)), Fail, "no reply in 80ms")
	mu.Lock()
	defer mu.Unlock()
	if len(senders) != 3 || senders[0] == senders[1] || senders[1] == senders[2] {
		t.Errorf("tries from %v, want three sockets", senders)
	}
}

func TestUDPSourceAndPort(t *testing.T) {
	from := make(chan string, 1)
	at := packets(t, func(d datagram) { from <- d.from.Addr().String(); d.reply("x") })
	c := udpCheck(long, UDP{Port: at.Port()})
	c.Source = []netip.Addr{netip.MustParseAddr("127.9.8.7")}
	want(t, run(t, c, Target{Addr: local}), Pass, "")
	if got := <-from; got != "127.9.8.7" {
		t.Errorf("probed from %s", got)
	}
}

func TestUDPIPv6(t *testing.T) {
	if noIPv6() {
		return
	}
	conn := packetSocket(t, "[::1]:0")
	at := netip.MustParseAddrPort(conn.LocalAddr().String())
	want(t, run(t, udpCheck(short, UDP{}), target(at)), Fail, "no reply in 80ms")
	conn.Close()
	want(t, run(t, udpCheck(long, UDP{}), target(at)), Fail, "port unreachable")
}

func TestUDPCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	at := packets(t, func(datagram) { cancel() })
	c := udpCheck(long, UDP{Send: []byte("x")})
	p, err := New(c, target(at), false)
	if err != nil {
		t.Fatal(err)
	}
	want(t, Round(ctx, p, c), Fault, "cancelled")
}

func TestUDPTrace(t *testing.T) {
	at := packets(t, func(d datagram) { d.reply("PO\nNG") })
	c := udpCheck(long, UDP{Send: []byte("PING")})
	p, err := New(c, target(at), true)
	if err != nil {
		t.Fatal(err)
	}
	r := Round(context.Background(), p, c)
	want(t, r, Pass, "")
	if len(r.Steps) != 2 || r.Steps[0].What != "send" || !strings.HasPrefix(r.Steps[0].Info, "4 bytes from 127.0.0.1:") ||
		!strings.HasSuffix(r.Steps[0].Info, " to "+at.String()) || r.Steps[1].What != "reply" || r.Steps[1].Info != `"PO\nNG"` {
		t.Errorf("steps %v", r.Steps)
	}
}

func BenchmarkUDP(b *testing.B) {
	at := packets(b, func(d datagram) { d.reply("PONG") })
	c := udpCheck(long, UDP{Send: []byte("PING"), Expect: []byte("PONG")})
	p, err := New(c, target(at), false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := Round(context.Background(), p, c); r.Outcome != Pass {
			b.Fatal(r.Reason)
		}
	}
}
