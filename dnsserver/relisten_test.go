package dnsserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// free gives an address of a host that no other test uses, with a port that is free on every host: not one of those that the kernel
// gives to others meanwhile.
func free(t *testing.T, host string) string {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(5000)
		if l, err := net.Listen("tcp", fmt.Sprintf(":%d", port)); err == nil {
			_ = l.Close()
			return fmt.Sprintf("%s:%d", host, port)
		}
	}
	t.Fatal("no port is free")
	return ""
}

// relisten changes the addresses of a server.
func relisten(t *testing.T, s *Server, listen ...string) {
	t.Helper()
	commit, err := s.Listen(listen)
	if err != nil {
		t.Fatalf("Listen(%q): %v", listen, err)
	}
	commit()
}

// refused demands that nothing listens there.
func refused(t *testing.T, addr string) {
	t.Helper()
	if conn, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("tcp %s: %v, %v", addr, conn, err)
	}
	conn := dial(t, "udp", netip.MustParseAddrPort(addr))
	_, _ = conn.Write(query(1, 20))
	if n, err := conn.Read(make([]byte, 100)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("udp %s: %d octets, %v", addr, n, err)
	}
}

// inodes identifies the sockets of an address.
func inodes(t *testing.T, s *Server, addr string) (list []uint64) {
	t.Helper()
	at := slices.IndexFunc(s.listeners, func(l *listener) bool { return l.bound.String() == addr })
	if at < 0 {
		t.Fatalf("%s is not among %v", addr, s.Addrs())
	}
	l := s.listeners[at]
	raw, err := l.tcp.Listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) { list = append(list, inode(t, int(fd))) })
	for _, w := range l.workers {
		w.control(func(fd uintptr) { list = append(list, inode(t, int(fd))) })
	}
	return list
}

func inode(t *testing.T, fd int) uint64 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Ino
}

// traffic asks over UDP without a pause, each client with a window of queries under way, until stop; it demands an answer to each.
func traffic(t *testing.T, addrs ...string) (stop func()) {
	const clients, window = 4, 16
	var done atomic.Bool
	var sent, answered atomic.Int64
	var all sync.WaitGroup
	for _, addr := range addrs {
		for range clients {
			conn := dial(t, "udp", netip.MustParseAddrPort(addr))
			all.Go(func() {
				buffer := make([]byte, 100)
				for id := uint16(0); !done.Load(); id++ {
					for range window {
						if _, err := conn.Write(query(id, 40)); err != nil {
							t.Errorf("%s: %v", addr, err)
							return
						}
						sent.Add(1)
					}
					for range window {
						n, err := conn.Read(buffer)
						if err != nil || !isEcho(buffer[:n], id, 40) {
							t.Errorf("%s: query lost: %x %v", addr, buffer[:n], err)
							return
						}
						answered.Add(1)
					}
				}
			})
		}
	}
	eventually(t, "traffic", func() bool { return answered.Load() > 1000 })
	return func() {
		before := answered.Load()
		eventually(t, "traffic goes on", func() bool { return t.Failed() || answered.Load() > before+1000 })
		done.Store(true)
		all.Wait()
		if sent.Load() != answered.Load() {
			t.Errorf("%d queries sent, %d answered", sent.Load(), answered.Load())
		}
		t.Logf("%d queries sent, %d answered", sent.Load(), answered.Load())
	}
}

// Addresses come and go; those that stay, in any order, keep their sockets, their connections, and every query.
func TestListenLeavesWhatStays(t *testing.T) {
	a, b, c := free(t, "127.0.0.61"), free(t, "127.0.0.62"), free(t, "127.0.0.63")
	core, logs := observer.New(zap.InfoLevel)
	s := start(t, Options{Listen: []string{a, b}, Workers: 2, TCP: TCPLimits{MaxConnectionsPerClient: 1000}, Log: zap.New(core)}, echo)
	conn := dial(t, "tcp", netip.MustParseAddrPort(a))
	askTCP(t, conn, 1, 40)
	before := inodes(t, s, a)
	stop := traffic(t, a)
	for range 20 {
		for _, list := range [][]string{{b, a}, {a}, {c, a, b}, {a, c}, {a, b}} {
			relisten(t, s, list...)
			var got []string
			for _, addr := range s.Addrs() {
				got = append(got, addr.String())
				askTCP(t, dial(t, "tcp", addr), 2, 30)
				ask(t, dial(t, "udp", addr), 2, 30)
			}
			if !slices.Equal(got, list) {
				t.Fatalf("Addrs: %v, want %v", got, list)
			}
			if !slices.Contains(list, b) {
				refused(t, b)
			}
			askTCP(t, conn, 3, 50)
		}
	}
	stop()
	if after := inodes(t, s, a); !slices.Equal(before, after) {
		t.Errorf("sockets %v became %v", before, after)
	}
	if n := logs.FilterMessage("listening").FilterField(zap.Stringer("address", netip.MustParseAddrPort(c))).Len(); n != 20 {
		t.Errorf("%d times logged that %s is listening, want 20", n, c)
	}
	if n := logs.FilterMessage("no longer listening").FilterField(zap.Stringer("address", netip.MustParseAddrPort(b))).Len(); n != 40 {
		t.Errorf("%d times logged that %s is gone, want 40", n, b)
	}
}

// Port 0 that stays keeps its port, also when it is written out at last; a further one gets another.
func TestListenPortZero(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0", "127.0.0.1:0"}, Workers: 1}, echo)
	ports := func() (list []string) {
		for _, a := range s.Addrs() {
			list = append(list, a.String())
		}
		return list
	}
	first := ports()
	relisten(t, s, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0")
	second := ports()
	if len(second) != 3 || !slices.Equal(second[:2], first) || slices.Contains(first, second[2]) {
		t.Errorf("%v became %v", first, second)
	}
	relisten(t, s, second[1], "127.0.0.1:0")
	if got, want := ports(), []string{second[1], second[0]}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	relisten(t, s, second[0])
	relisten(t, s, "127.0.0.1:0", second[0]) // whoever names the port gets it
	if got := ports(); len(got) != 2 || got[1] != second[0] || got[0] == second[0] {
		t.Errorf("got %v, want another one and %s", got, second[0])
	}
}

// A family that a machine lacked is served as soon as it is there, on the port that the other one has.
func TestListenFamilyComes(t *testing.T) {
	haveIPv6(t)
	s := newServer(Options{Listen: []string{":0"}, Workers: 1}, echo)
	failing(s, syscall.EAFNOSUPPORT, "tcp6", "udp6")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	relisten(t, s, ":0") // still missing
	if len(s.Addrs()) != 1 {
		t.Fatalf("Addrs: %v", s.Addrs())
	}
	s.control = nil
	for range 2 {
		relisten(t, s, ":0")
		if a := s.Addrs(); len(a) != 2 || a[0].Port() != a[1].Port() || !a[1].Addr().Is6() {
			t.Errorf("Addrs: %v", a)
		}
	}
}

// An address that cannot be bound refuses the whole change: nothing is bound, nothing touched, and the next change works.
func TestListenAllOrNone(t *testing.T) {
	a, b, taken := free(t, "127.0.0.61"), free(t, "127.0.0.62"), free(t, "127.0.0.63")
	s := start(t, Options{Listen: []string{a}, Workers: 2}, echo)
	other, err := net.Listen("tcp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	before, port := inodes(t, s, a), netip.MustParseAddrPort(taken).Port()
	stop := traffic(t, a)
	for _, c := range []struct {
		list []string
		want string
	}{
		{[]string{b, taken}, fmt.Sprintf("listen tcp %q: address already in use\n  hint: `ss -ltnp 'sport = :%d'` shows which process has the port; stop it, or listen on another address or port", taken, port)},
		{[]string{b, a, "192.0.2.1:53"}, "listen tcp \"192.0.2.1:53\": cannot assign requested address\n  hint: this machine does not have the address (`ip address` lists those it has); correct it, or add it to an interface first"},
		{[]string{b, b}, fmt.Sprintf("listen %q: overlaps with %q\n  hint: keep one of the two", b, b)},
		{nil, "listen: no address to listen on\n  hint: set listen, for example [ \"127.0.0.1:5353\", \"[::1]:5353\" ]"},
	} {
		commit, err := s.Listen(c.list)
		if fmt.Sprint(err) != c.want || commit != nil {
			t.Errorf("%q:\n got %v\nwant %s", c.list, err, c.want)
		}
		refused(t, b)
	}
	if got := s.Addrs(); len(got) != 1 || !slices.Equal(inodes(t, s, a), before) {
		t.Errorf("changed: %v", got)
	}
	stop()
	relisten(t, s, a, b)
	ask(t, dial(t, "udp", netip.MustParseAddrPort(b)), 1, 30)
}

// What a removed address holds is answered, its port is free at once, and nothing that was counted is lost.
func TestListenFinishesWhatIsRemoved(t *testing.T) {
	a, b := free(t, "127.0.0.61"), free(t, "127.0.0.62")
	busy, release := make(chan bool, 2), make(chan bool)
	s := start(t, Options{Listen: []string{a, b}, Workers: 1}, func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		if packet[1] == 77 {
			busy <- true
			<-release
		}
		return echo(dst, packet, client, transport)
	})
	udp, tcp, idle := dial(t, "udp", netip.MustParseAddrPort(b)), dial(t, "tcp", netip.MustParseAddrPort(b)), dial(t, "tcp", netip.MustParseAddrPort(b))
	askTCP(t, idle, 1, 30)
	_, _ = udp.Write(query(77, 30))
	_, _ = tcp.Write(framed(77, 30))
	<-busy
	<-busy
	for id := range uint16(70) { // more than a batch
		_, _ = udp.Write(query(id, 30))
	}
	commit, err := s.Listen([]string{a})
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(commit)
	close(release)
	expect(t, udp, 77, 30)
	for id := range uint16(70) {
		expect(t, udp, id, 30)
	}
	if reply, err := readFramed(tcp); err != nil || !isEcho(reply, 77, 30) {
		t.Errorf("tcp: %x %v", reply, err)
	}
	done.Wait()
	closed(t, idle)
	closed(t, tcp)
	refused(t, b)
	relisten(t, s, a, b)
	ask(t, dial(t, "udp", netip.MustParseAddrPort(b)), 1, 30)
	askTCP(t, dial(t, "tcp", netip.MustParseAddrPort(b)), 1, 30)
}

// The TCP connections of a removed address are answered all that they hold, pipelined queries and the rest of one included, and then ended
// in order; a client that goes on asking is not served for ever.
func TestListenFinishesPipelines(t *testing.T) {
	a, b := free(t, "127.0.0.61"), free(t, "127.0.0.62")
	busy, release := make(chan bool), make(chan bool)
	s := start(t, Options{Listen: []string{a, b}, Workers: 1}, func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		if packet[1] == 77 {
			busy <- true
			<-release
		}
		return echo(dst, packet, client, transport)
	})
	conn, restless := dial(t, "tcp", netip.MustParseAddrPort(b)), dial(t, "tcp", netip.MustParseAddrPort(b))
	askTCP(t, restless, 1, 30)
	_, _ = conn.Write(framed(77, 30))
	<-busy
	for id := range uint16(70) { // none of them is read before the address goes
		_, _ = conn.Write(framed(id, 1000))
	}
	_, _ = conn.Write(framed(76, 100)[:50])
	relisten(t, s, a)
	var asking sync.WaitGroup
	asking.Go(func() { // for as long as it is answered
		for err := error(nil); err == nil; _, err = readFramed(restless) {
			_, _ = restless.Write(framed(1, 30))
		}
	})
	release <- true
	_, _ = conn.Write(framed(76, 100)[50:])
	for i, id := range append(append([]uint16{77}, pipelined(70)...), 76) {
		reply, err := readFramed(conn)
		if err != nil || !isEcho(reply, id, len(reply)) {
			t.Fatalf("answer %d, to query %d: %d octets, %v", i, id, len(reply), err)
		}
	}
	if _, err := readFramed(conn); !errors.Is(err, io.EOF) {
		t.Errorf("after the last answer: %v", err)
	}
	asking.Wait()
	eventually(t, "all connections ended", func() bool { return s.Stats().Open == 0 })
}

// pipelined gives n ids.
func pipelined(n uint16) (ids []uint16) {
	for id := range n {
		ids = append(ids, id)
	}
	return ids
}

// Two lists that overlap follow one another without a gap: UDP loses nothing, and the port is nobody else's.
func TestListenHandsOver(t *testing.T) {
	for _, host := range []string{"127.0.0.61", "[::1]"} {
		t.Run(host, func(t *testing.T) {
			if host == "[::1]" {
				haveIPv6(t)
			}
			one := free(t, host)
			at := netip.MustParseAddrPort(one)
			every, any4 := fmt.Sprintf(":%d", at.Port()), fmt.Sprintf("0.0.0.0:%d", at.Port())
			if at.Addr().Is6() {
				any4 = fmt.Sprintf("[::]:%d", at.Port())
			}
			s := start(t, Options{Listen: []string{one}, Workers: 2}, echo)
			stop := traffic(t, one)
			for range 10 {
				for _, list := range []string{every, one, any4, every, one} {
					relisten(t, s, list)
					askTCP(t, dial(t, "tcp", at), 1, 30)
					ask(t, dial(t, "udp", at), 1, 30)
				}
			}
			stop()
			relisten(t, s, every)
			second := newServer(Options{Listen: []string{one}}, echo)
			if err := second.Start(); !errors.Is(err, syscall.EADDRINUSE) {
				t.Errorf("a second server: %v", err)
			}
		})
	}
}

// A change that fails after an address was taken over loses nothing that came in between.
func TestListenHandsBack(t *testing.T) {
	one := free(t, "127.0.0.61")
	at := netip.MustParseAddrPort(one)
	every, two := fmt.Sprintf(":%d", at.Port()), fmt.Sprintf("127.0.0.62:%d", at.Port())
	s := start(t, Options{Listen: []string{every}, Workers: 2}, echo)
	s.control = func(network, address string, _ syscall.RawConn) error {
		if network == "udp4" && address == two {
			return syscall.EADDRINUSE
		}
		return nil
	}
	addrs := s.Addrs()
	stop := traffic(t, one)
	for range 20 {
		commit, err := s.Listen([]string{one, two})
		want := fmt.Sprintf("listen udp %q: address already in use\n  hint: it overlaps with %q, which is still served: take that out and reload, then add this one and reload again; or restart", two, every)
		if commit != nil || fmt.Sprint(err) != want {
			t.Fatalf("got %v\nwant %s", err, want)
		}
	}
	stop()
	if !slices.Equal(s.Addrs(), addrs) {
		t.Errorf("%v became %v", addrs, s.Addrs())
	}
}

// Listen needs a server that runs; a Stop between binding and commit closes the new sockets.
func TestListenOutsideOfLife(t *testing.T) {
	a, b := free(t, "127.0.0.61"), free(t, "127.0.0.62")
	s := newServer(Options{Listen: []string{a}}, echo)
	if _, err := s.Listen([]string{b}); !errors.Is(err, errNotStarted) {
		t.Errorf("before Start: %v", err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	commit, err := s.Listen([]string{b})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	commit()
	refused(t, a)
	refused(t, b)
	if _, err := s.Listen([]string{b}); !errors.Is(err, errStopped) {
		t.Errorf("after Stop: %v", err)
	}
}

// Counters stay when their sockets go, and new sockets count on.
func TestListenKeepsCounters(t *testing.T) {
	a, b := free(t, "127.0.0.61"), free(t, "127.0.0.62")
	s := start(t, Options{Listen: []string{a}, Workers: 2}, echo)
	for i := range 10 {
		list := []string{a, b}[i%2]
		relisten(t, s, list)
		ask(t, dial(t, "udp", netip.MustParseAddrPort(list)), 1, 30)
		askTCP(t, dial(t, "tcp", netip.MustParseAddrPort(list)), 1, 30)
		n := uint64(i + 1)
		eventually(t, "counted", func() bool { c := s.Stats(); return c.UDP.Answered == n && c.TCP.Answered == n && c.Connections == n })
	}
	if len(s.tallies) > 2*len(s.listeners[0].workers) {
		t.Errorf("%d tallies for %d workers", len(s.tallies), len(s.listeners[0].workers))
	}
	eventually(t, "removed connections end", func() bool { return s.Stats().Open <= 1 })
}

// A client that takes no answers does not hold up a change, and is cut off by Stop if it is still there.
func TestListenStuckClient(t *testing.T) {
	a, b := free(t, "127.0.0.61"), free(t, "127.0.0.62")
	core, logs := observer.New(zap.WarnLevel)
	s := start(t, Options{Listen: []string{a}, TCP: TCPLimits{MessageTimeout: time.Hour}, Log: zap.New(core)}, echo)
	stuck(t, s)
	relisten(t, s, b)
	refused(t, a)
	ask(t, dial(t, "udp", netip.MustParseAddrPort(b)), 1, 30)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Stop(ctx); err != nil && !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("Stop: %v", err)
	}
	if logs.FilterMessage("connections of a removed address cut off").Len() != 1 {
		t.Errorf("logged %v", logs.All())
	}
}
