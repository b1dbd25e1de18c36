package dnsserver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds every wait for something that must happen; no test waits for it to pass.
const patience = 10 * time.Second

// respondFunc is a responder for tests.
type respondFunc func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte

func (f respondFunc) Respond(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
	return f(dst, packet, client, transport)
}

// echo gives a query back as a reply; to a reply and to fragments of a header it keeps silent.
func echo(dst, packet []byte, _ netip.AddrPort, _ Transport) []byte {
	if len(packet) < 12 || packet[2]&0x80 != 0 {
		return dst
	}
	at := len(dst)
	dst = append(dst, packet...)
	dst[at+2] |= 0x80
	return dst
}

// newServer makes a server whose goroutines all answer by respond.
func newServer(opts Options, respond respondFunc) *Server {
	s := New(opts)
	s.newResponder = func(*AnswerCounts) responder { return respond }
	return s
}

// start starts a server for the time of a test and holds it to leaving no goroutine behind.
func start(t *testing.T, opts Options, respond respondFunc) *Server {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	s := newServer(opts, respond)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop(t, s)
		goleak.VerifyNone(t, leaks)
	})
	return s
}

// stop stops a server and demands that it could do so in peace.
func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// dial connects to addr for the time of a test.
func dial(t *testing.T, network string, addr netip.AddrPort) net.Conn {
	t.Helper()
	conn, err := net.Dial(network, addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// query is a message of size octets with an id.
func query(id uint16, size int) []byte {
	q := make([]byte, size)
	binary.BigEndian.PutUint16(q, id)
	for i := 12; i < size; i++ {
		q[i] = byte(i + int(id))
	}
	return q
}

// framed is a query as TCP carries it.
func framed(id uint16, size int) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(size)), query(id, size)...)
}

// readFramed reads one message from a TCP connection.
func readFramed(conn io.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	m := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(conn, m)
	return m, err
}

// isEcho reports whether reply is what echo makes of the query with this id and size.
func isEcho(reply []byte, id uint16, size int) bool {
	want := query(id, size)
	want[2] |= 0x80
	return string(reply) == string(want)
}

// ask sends a query over UDP and demands its echo.
func ask(t *testing.T, conn net.Conn, id uint16, size int) {
	t.Helper()
	if _, err := conn.Write(query(id, size)); err != nil {
		t.Fatal(err)
	}
	expect(t, conn, id, size)
}

// expect demands the echo of a query sent before.
func expect(t *testing.T, conn net.Conn, id uint16, size int) {
	t.Helper()
	reply := make([]byte, 1<<16)
	n, err := conn.Read(reply)
	if err != nil {
		t.Fatalf("query %d: %v", id, err)
	}
	if !isEcho(reply[:n], id, size) {
		t.Fatalf("query %d of %d octets: got %d octets %x", id, size, n, reply[:min(n, 16)])
	}
}

// askTCP sends a query over TCP and demands its echo.
func askTCP(t *testing.T, conn net.Conn, id uint16, size int) {
	t.Helper()
	if _, err := conn.Write(framed(id, size)); err != nil {
		t.Fatal(err)
	}
	reply, err := readFramed(conn)
	if err != nil || !isEcho(reply, id, size) {
		t.Fatalf("query %d of %d octets: got %d octets, %v", id, size, len(reply), err)
	}
}

// eventually waits until ok reports true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// haveIPv6 skips a test on a machine without ::1.
func haveIPv6(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		skip(t, "no IPv6 here: %v", err)
	}
	_ = l.Close()
}

// skip skips a test for want of something; under CI nothing may be wanting.
func skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// A wildcard socket answers from the address asked from its very first message on.
func TestWildcardFromTheFirst(t *testing.T) {
	one := free(t, "127.0.0.61")
	at := netip.MustParseAddrPort(one)
	asked := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.64"), at.Port())
	s := start(t, Options{Listen: []string{one}, Workers: 2}, echo)
	var done atomic.Bool
	var answered atomic.Int64
	var clients sync.WaitGroup
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	clients.Go(func() {
		for !done.Load() {
			_, _ = conn.WriteToUDPAddrPort(query(1, 20), asked)
		}
	})
	clients.Go(func() {
		buffer := make([]byte, 100)
		for {
			_, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			if from != asked {
				t.Errorf("asked %s, answered by %s", asked, from)
			}
			answered.Add(1)
		}
	})
	for range 20 {
		relisten(t, s, fmt.Sprintf(":%d", at.Port()))
		relisten(t, s, one)
	}
	done.Store(true)
	_ = conn.Close()
	clients.Wait()
	if answered.Load() == 0 {
		t.Error("nothing was answered")
	}
}

// A link-local address whose interface is not there, or that is written without one, is told apart from other faults.
func TestListenMissingInterface(t *testing.T) {
	haveIPv6(t)
	for listen, hint := range map[string]string{
		"[fe80::1%nosuch0]:5399": "is there an interface nosuch0, and is it up? `ip link` lists them",
		"[fe80::1]:5399":         "a link-local address needs its interface: write [fe80::1%eth0]:53",
	} {
		err := newServer(Options{Listen: []string{listen}}, echo).Start()
		if e, ok := errors.AsType[*ListenError](err); !ok || e.Hint != hint || e.Address != listen {
			t.Errorf("%s: got %v, want the hint %s", listen, err, hint)
		}
	}
}
