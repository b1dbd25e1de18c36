package dnsserver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/miekg/dns"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sys/unix"
)

// manual is a worker that a test turns by hand.
type manual struct {
	*udpWorker
	t *testing.T
}

func newManual(t *testing.T, listen string, respond respondFunc) *manual {
	t.Helper()
	s := newServer(Options{Listen: []string{listen}, Workers: 1}, respond)
	addr := netip.MustParseAddrPort(listen)
	l, err := s.bind(endpoint{addr: addr, text: listen}, addr.Port(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return &manual{l.workers[0], t}
}

// serve waits for a batch and answers it.
func (m *manual) serve() {
	n, errno := m.b.await(m.fd)
	if errno != 0 {
		m.t.Fatal(errno)
	}
	m.turn(n)
}

// control lends the socket.
func (w *udpWorker) control(f func(fd uintptr)) { f(uintptr(w.fd)) }

// bound is the address with the real port.
func (m *manual) bound() netip.AddrPort { return m.addr }

// counts gives the worker's counters.
func (m *manual) counts() (c Counts) {
	m.counters.addTo(&c)
	return c
}

// One call takes a whole batch, and what a panic, a silence and a refused answer leave of it goes out.
func TestBatchIsAnsweredWhole(t *testing.T) {
	m := newManual(t, "127.0.0.1:0", func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		switch packet[1] % 8 {
		case 3:
			panic("three")
		case 5:
			return dst
		case 6:
			return make([]byte, 70000)
		}
		return echo(dst, packet, client, transport)
	})
	conn := dial(t, "udp", m.bound())
	for round := range 3 {
		for id := range uint16(batchSize) {
			if _, err := conn.Write(query(id, 30)); err != nil {
				t.Fatal(err)
			}
		}
		m.serve()
		for id := range uint16(batchSize) {
			if k := id % 8; k != 3 && k != 5 && k != 6 {
				expect(t, conn, id, 30)
			}
		}
		n := uint64(batchSize * (round + 1))
		if want := (Counts{Received: n, Answered: n / 8 * 5, Dropped: n / 4, SendErrors: n / 8, Panics: n / 8}); m.counts() != want {
			t.Fatalf("round %d: %+v, want %+v", round, m.counts(), want)
		}
	}
	if n, errno := m.b.receive(m.fd); errno != unix.EAGAIN {
		t.Errorf("%d left to receive, %v", n, errno)
	}
}

// A batch that cannot be read as one is answered message by message.
func TestPanicInReadingABatch(t *testing.T) {
	m := newManual(t, "127.0.0.1:0", nil)
	responder, _ := newTestResponder(t, testZone(t))
	m.responder, m.batched = responder, responder.InBatches(5) // there is no room for the sixth
	conn := dial(t, "udp", m.bound())
	packet := kind{ask: "plain" + inZone, qtype: dns.TypeA}.packet(t)
	for id := range uint16(batchSize) {
		binary.BigEndian.PutUint16(packet, id)
		if _, err := conn.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	m.serve()
	reply := make([]byte, 512)
	for id := range uint16(batchSize) {
		n, err := conn.Read(reply)
		answer := new(dns.Msg)
		if err != nil || answer.Unpack(reply[:n]) != nil || answer.Id != id || len(answer.Answer) != 1 {
			t.Fatalf("message %d: %v %v", id, err, answer)
		}
	}
	if want := (Counts{Received: batchSize, Answered: batchSize}); m.counts() != want {
		t.Errorf("%+v, want %+v", m.counts(), want)
	}
}

func TestUDPAllocatesNothing(t *testing.T) {
	haveIPv6(t)
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		t.Run(listen, func(t *testing.T) {
			m := newManual(t, listen, echo)
			to := m.bound()
			if m.wildcard {
				to = netip.AddrPortFrom(map[bool]netip.Addr{true: netip.MustParseAddr("127.0.0.3"), false: netip.IPv6Loopback()}[to.Addr().Is4()], to.Port())
			}
			conn := dial(t, "udp", to)
			packet, reply := query(1, 60), make([]byte, 100)
			allocs := testing.AllocsPerRun(200, func() {
				for range 10 {
					_, _ = conn.Write(packet)
				}
				m.serve()
				for range 10 {
					_, _ = conn.Read(reply)
				}
			})
			if allocs != 0 {
				t.Errorf("%v allocations for 10 packets, want 0", allocs)
			}
			if c := m.counts(); c.Answered != 2010 {
				t.Errorf("%+v, want 2010 answered", c)
			}
		})
	}
}

// The workers of one address share its clients.
func TestWorkersShareThePort(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 3}, echo)
	for range 100 {
		ask(t, dial(t, "udp", s.Addrs()[0]), 1, 20)
	}
	if n := len(s.listeners[0].workers); n != 3 {
		t.Fatalf("%d workers, want 3", n)
	}
	for i, w := range s.listeners[0].workers {
		eventually(t, "counted", func() bool { return s.Stats().UDP.Answered == 100 })
		if w.counters.received.Load() == 0 {
			t.Errorf("worker %d of 3 got none of 100 clients", i)
		}
	}
}

// Queries that wait in the socket at a stop are answered.
func TestStopAnswersWhatIsQueued(t *testing.T) {
	busy, release := make(chan bool, 1), make(chan bool)
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 1}, func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		if packet[1] == 0 {
			busy <- true
			<-release
		}
		return echo(dst, packet, client, transport)
	})
	conn := dial(t, "udp", s.Addrs()[0])
	_, _ = conn.Write(query(0, 20))
	<-busy
	for id := range uint16(150) {
		_, _ = conn.Write(query(id+1, 20))
	}
	for _, w := range s.listeners[0].workers {
		w.stop()
	}
	close(release)
	for id := range uint16(151) {
		expect(t, conn, id, 20)
	}
}

// What the kernel still had on the way to the socket at a stop is answered, in place of this test by the socket itself: nobody else
// can reach it any more. Before that, what waits is answered without a delay.
func TestStopAnswersWhatComesLate(t *testing.T) {
	var got []byte
	m := newManual(t, "127.0.0.1:0", func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		got = append(got, packet[1])
		return nil
	})
	_, _ = dial(t, "udp", m.bound()).Write(query(1, 20))
	m.settle = func() {
		if len(got) != 1 {
			t.Errorf("before the wait %v were answered, want 1", got)
		}
		_, _ = dial(t, "udp", m.bound()).Write(query(2, 20))
		if _, err := unix.Write(m.fd, query(3, 20)); err != nil {
			t.Error(err)
		}
	}
	m.stop()
	m.run()
	if !bytes.Equal(got, []byte{1, 3}) {
		t.Errorf("answered %v, want 1 and 3", got)
	}
}

// Addresses that were taken over are handed back all at once: while one of them takes its time, clients of the others would wait.
func TestHandBackAtOnce(t *testing.T) {
	const n = 10
	at := netip.MustParseAddrPort(free(t, "127.0.0.61"))
	s := start(t, Options{Listen: []string{fmt.Sprintf("0.0.0.0:%d", at.Port())}, Workers: 1}, echo)
	var waiting sync.WaitGroup
	waiting.Add(n)
	var bound []*listener
	for range n {
		l, err := s.bind(endpoint{addr: at}, at.Port(), s.listeners)
		if err != nil {
			t.Fatal(err)
		}
		l.workers[0].settle = func() {
			waiting.Done()
			waiting.Wait()
		}
		bound, at = append(bound, l), netip.AddrPortFrom(at.Addr().Next(), at.Port())
	}
	over := make(chan struct{})
	go func() { s.discard(bound); close(over) }()
	select {
	case <-over:
	case <-time.After(20 * time.Second):
		t.Fatal("one waits for another")
	}
}

// A socket that takes nothing is reported once a minute, and its worker goes on until stop.
func TestReceiveFaultIsReported(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 1, Log: zap.New(core)}, echo)
	w := s.listeners[0].workers[0]
	breakSocket(t, w)
	eventually(t, "reported", func() bool { return logs.Len() > 0 })
	stop(t, s)
	for range 3 {
		w.fault(unix.ENOTSOCK)
	}
	want := logs.FilterMessage("udp receive failed").FilterField(zap.Stringer("address", w.addr)).FilterField(zap.Error(unix.ENOTSOCK))
	if want.Len() != 1 || logs.Len() != 1 {
		t.Errorf("logged %v", logs.All())
	}
}

// A socket that somebody else has shut down is a fault like others: told, and no reason to spin. It still answers.
func TestShutSocketDoesNotSpin(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 1, Log: zap.New(core)}, echo)
	w := s.listeners[0].workers[0]
	_ = unix.Shutdown(w.fd, unix.SHUT_RD)
	eventually(t, "reported", func() bool {
		return logs.FilterMessage("udp receive failed").FilterField(zap.Error(unix.ESHUTDOWN)).Len() == 1
	})
	ask(t, dial(t, "udp", s.Addrs()[0]), 1, 20)
	<-time.After(250 * time.Millisecond)
	stop(t, s)
	if n := w.failures.count; n == 0 || n > 10 { // since the log line
		t.Errorf("%d turns for nothing in a quarter of a second, want 3 or so", n)
	}
	if logs.Len() != 1 {
		t.Errorf("logged %v", logs.All())
	}
}

// A worker that has ended is not stopped again: its socket's number may be another's by then.
func TestStopOfAnEndedWorker(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 1}, echo)
	w := s.listeners[0].workers[0]
	stop(t, s)
	other, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.fd = other[0]
	w.stop()
	_, err = unix.Write(other[1], []byte{1})
	if n, got := unix.Read(other[0], make([]byte, 1)); err != nil || n != 1 {
		t.Errorf("the other socket is shut down: %v, %d octets, %v", err, n, got)
	}
	_, _ = unix.Close(other[0]), unix.Close(other[1])
}

// A change of addresses that needs more threads than a process may have is refused, and changes nothing.
func TestWorkersAreBounded(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 2}, echo)
	list := []string{s.Addrs()[0].String()}
	for i := range maxWorkers / 2 {
		list = append(list, fmt.Sprintf("127.1.%d.%d:5399", i>>8, i&255))
	}
	want := `listen: 2049 addresses with 2 UDP workers each are 4098 threads, at most 4096
  hint: listen on fewer addresses, or set udp.workers to 1 and restart`
	if commit, err := s.Listen(list); commit != nil || err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	ask(t, dial(t, "udp", s.Addrs()[0]), 1, 20)
	if err := newServer(Options{Listen: list, Workers: 2}, echo).Start(); err == nil || err.Error() != want {
		t.Errorf("at the start: %v, want %s", err, want)
	}
}

// breakSocket puts something into the place of a worker's socket that is none.
func breakSocket(t *testing.T, w *udpWorker) {
	t.Helper()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	old, err := unix.Dup(w.fd)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(old)
	if err := unix.Dup3(int(file.Fd()), w.fd, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	_, _ = dial(t, "udp", w.addr).Write(query(1, 20)) // the worker still waits in the old one
}

// The runtime's poller hears nothing of a worker's socket: it would be woken by each message that leaves.
func TestPollerHearsNothing(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 2}, echo)
	ask(t, dial(t, "udp", s.Addrs()[0]), 1, 20)
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	polled := ""
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && to == "anon_inode:[eventpoll]" {
			info, err := os.ReadFile("/proc/self/fdinfo/" + filepath.Base(f))
			if err != nil {
				t.Fatal(err)
			}
			polled += string(info)
		}
	}
	for i, ino := range inodes(t, s, s.Addrs()[0].String()) { // TCP first, which it serves
		if in := strings.Contains(polled, fmt.Sprintf("ino:%x ", ino)); in != (i == 0) {
			t.Errorf("socket %d of 3, %x: in the poller %v\n%s", i+1, ino, in, polled)
		}
	}
}

func TestSocketOptions(t *testing.T) {
	haveIPv6(t)
	for _, c := range []struct {
		listen        string
		level, option int
		want          int
	}{
		{"127.0.0.1:0", unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_OMIT},
		{"127.0.0.1:0", unix.IPPROTO_IP, unix.IP_PKTINFO, 0},
		{"127.0.0.1:0", unix.SOL_SOCKET, unix.SO_REUSEPORT, 1},
		{"0.0.0.0:0", unix.IPPROTO_IP, unix.IP_PKTINFO, 1},
		{"[::1]:0", unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_OMIT},
		{"[::1]:0", unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 0},
		{"[::]:0", unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1},
		{"[::]:0", unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1},
	} {
		if got, err := unix.GetsockoptInt(newManual(t, c.listen, echo).fd, c.level, c.option); err != nil || got != c.want {
			t.Errorf("%s: option %d/%d is %d (%v), want %d", c.listen, c.level, c.option, got, err, c.want)
		}
	}
}

func TestReceiveBufferIsAsked(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 1, ReceiveBuffer: 50000}, echo)
	if got, _ := unix.GetsockoptInt(s.listeners[0].workers[0].fd, unix.SOL_SOCKET, unix.SO_RCVBUF); got != 100000 { // the kernel doubles it
		t.Errorf("SO_RCVBUF is %d, want 100000", got)
	}
}

// What an answer says of the interface: nothing, unless its address is link-local.
func TestForgetInterface(t *testing.T) {
	for _, c := range []struct {
		family uint16
		first  [2]byte
		kept   bool
	}{
		{unix.AF_INET, [2]byte{7, 0}, false},
		{unix.AF_INET6, [2]byte{0x20, 0x01}, false},
		{unix.AF_INET6, [2]byte{0xfe, 0x80}, true},
		{unix.AF_INET6, [2]byte{0xfe, 0xbf}, true},
		{unix.AF_INET6, [2]byte{0xfe, 0xc0}, false},
	} {
		var got control
		index := (*uint32)(unsafe.Pointer(&got.info[16]))
		if c.family == unix.AF_INET {
			index = (*uint32)(unsafe.Pointer(&got.info[0]))
		}
		got.info[0], got.info[1] = c.first[0], c.first[1]
		*index |= 7
		got.forgetInterface(c.family)
		if (*index != 0) != c.kept {
			t.Errorf("family %d, address %x…: interface %d, kept should be %v", c.family, c.first, *index, c.kept)
		}
	}
}

// Addresses come out of the kernel's bytes as they are, IPv4 in IPv6 unwrapped.
func TestClientAddress(t *testing.T) {
	b := newBatch(false)
	b.names[0] = unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: 0x3500, Addr: netip.MustParseAddr("::ffff:192.0.2.1").As16()}
	b.names[1] = unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: netip.MustParseAddr("fe80::1").As16(), Scope_id: 3}
	*(*[2]byte)(unsafe.Pointer(&b.names[0].Port)) = [2]byte{0x12, 0x34}
	if got := b.client(0); got != netip.MustParseAddrPort("192.0.2.1:4660") {
		t.Errorf("got %v", got)
	}
	if got := b.client(1); got != netip.MustParseAddrPort("[fe80::1]:0") {
		t.Errorf("got %v", got)
	}
}
