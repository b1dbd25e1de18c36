package dnsserver

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// dialFrom connects from one of the machine's own addresses.
func dialFrom(t *testing.T, source string, addr netip.AddrPort) net.Conn {
	t.Helper()
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	conn, err := from.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// The one over the limit is served, and the one that was idle for longest goes: not the oldest, which has asked since.
func TestTCPConnectionLimit(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0", "127.0.0.2:0"}, TCP: TCPLimits{MaxConnections: 3}}, echo)
	var open []net.Conn
	for i := range 3 {
		conn := dial(t, "tcp", s.Addrs()[i%2])
		askTCP(t, conn, 1, 20)
		open = append(open, conn)
	}
	askTCP(t, open[0], 2, 20)
	fourth := dial(t, "tcp", s.Addrs()[1])
	askTCP(t, fourth, 1, 20)
	closed(t, open[1])
	fifth := dial(t, "tcp", s.Addrs()[0])
	askTCP(t, fifth, 1, 20)
	closed(t, open[2])
	for _, conn := range []net.Conn{open[0], fourth, fifth} {
		askTCP(t, conn, 3, 20)
	}
	if got := s.Stats(); got.Connections != 5 || got.Evicted != 2 || got.Refused != 0 || got.Open != 3 {
		t.Errorf("%+v", got)
	}
	_ = fourth.Close()
	eventually(t, "one gone", func() bool { return s.Stats().Open == 2 })
	askTCP(t, dial(t, "tcp", s.Addrs()[0]), 3, 20)
	if got := s.Stats(); got.Evicted != 2 || got.Open != 3 {
		t.Errorf("one closed for nothing: %+v", got)
	}
}

// Those who hold all connections, by saying nothing, by half a query or by not reading, do not keep others out.
func TestTCPFullHouse(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, TCP: TCPLimits{MaxConnections: 20, MessageTimeout: time.Hour}}, echo)
	stuck(t, s)
	for i := range 40 {
		conn := dial(t, "tcp", s.Addrs()[0])
		if i%2 == 0 {
			_, _ = conn.Write(framed(1, 500)[:100])
		}
	}
	eventually(t, "all accepted", func() bool { return s.Stats().Connections == 41 })
	conn := dial(t, "tcp", s.Addrs()[0])
	for id := range uint16(10) {
		askTCP(t, conn, id, 100)
		_, _ = dial(t, "tcp", s.Addrs()[0]).Write([]byte{0})
	}
	if got := s.Stats(); got.Open > 20 || got.Evicted < 22 {
		t.Errorf("%+v", got)
	}
}

// One client has its share and no more; another is not concerned.
func TestTCPLimitPerClient(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0", "127.0.0.2:0"}, TCP: TCPLimits{MaxConnectionsPerClient: 2}}, echo)
	var open []net.Conn
	for i := range 2 {
		conn := dialFrom(t, "127.0.0.7", s.Addrs()[i])
		askTCP(t, conn, 1, 20)
		open = append(open, conn)
	}
	for i := range 4 {
		closed(t, dialFrom(t, "127.0.0.7", s.Addrs()[i%2]))
	}
	if got := s.Stats(); got.Connections != 2 || got.Refused != 4 || got.Evicted != 0 || got.Open != 2 {
		t.Errorf("%+v", got)
	}
	askTCP(t, dialFrom(t, "127.0.0.8", s.Addrs()[0]), 1, 20)
	askTCP(t, open[0], 2, 20) // those inside are not disturbed
	_ = open[1].Close()
	eventually(t, "one gone", func() bool { return s.Stats().Open == 2 })
	askTCP(t, dialFrom(t, "127.0.0.7", s.Addrs()[0]), 3, 20)
}

func TestTCPClientOf(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1":            "192.0.2.1/32",
		"::ffff:192.0.2.1":     "192.0.2.1/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::":  "2001:db8:1:2::/64",
		"2001:db8:1:3::1":      "2001:db8:1:3::/64",
		"fe80::1%eth0":         "fe80::/64",
		"::1":                  "::/64",
	} {
		if got := clientOf(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := clientOf(netip.Addr{}); got.IsValid() {
		t.Errorf("no address: %s", got)
	}
}

// After the last query that it may ask, a client gets all its answers and the end, not a reset, however many more it has sent.
func TestTCPMaxQueries(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, TCP: TCPLimits{MaxQueries: 5}}, echo)
	for _, sent := range []uint16{5, 6, 300} {
		conn := dial(t, "tcp", s.Addrs()[0])
		var all []byte
		for id := range sent {
			all = append(all, framed(id, 100)...)
		}
		_, _ = conn.Write(all)
		for id := range uint16(5) {
			if reply, err := readFramed(conn); err != nil || !isEcho(reply, id, 100) {
				t.Fatalf("%d sent: answer %d: %x %v", sent, id, reply, err)
			}
		}
		if _, err := readFramed(conn); !errors.Is(err, io.EOF) {
			t.Errorf("%d sent: after the last answer: %v", sent, err)
		}
		_ = conn.Close()
	}
	eventually(t, "all gone", func() bool { return s.Stats().Open == 0 })
	if got := s.Stats(); got.Exhausted != 3 || got.TCP.Answered != 15 {
		t.Errorf("%+v", got)
	}
}

// Limits that change hold at once: for new connections, and for old ones from their next query on.
func TestSetTCPLimits(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}}, echo)
	var open []net.Conn
	for range 4 {
		conn := dial(t, "tcp", s.Addrs()[0])
		askTCP(t, conn, 1, 20)
		open = append(open, conn)
	}
	s.SetTCPLimits(TCPLimits{MaxConnections: 2})
	if got := s.Stats(); got.Open != 4 {
		t.Errorf("%+v", got)
	}
	askTCP(t, dial(t, "tcp", s.Addrs()[0]), 1, 20)
	for _, conn := range open[:3] {
		closed(t, conn)
	}
	if got := s.Stats(); got.Evicted != 3 || got.Open != 2 {
		t.Errorf("%+v", got)
	}
	s.SetTCPLimits(TCPLimits{IdleTimeout: 20 * time.Millisecond})
	askTCP(t, open[3], 2, 20)
	closed(t, open[3])
	eventually(t, "counted", func() bool { return s.Stats().TimedOut > 0 })
	s.SetTCPLimits(TCPLimits{MaxQueries: 1})
	last := dial(t, "tcp", s.Addrs()[0])
	askTCP(t, last, 1, 20)
	closed(t, last)
}

// Connections come, ask, are closed by either side and give way, all at the same time: the count must come out right.
func TestTCPPoolUnderLoad(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, TCP: TCPLimits{MaxConnections: 5}}, echo)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for id := range uint16(40) {
				conn, err := net.Dial("tcp", s.Addrs()[0].String())
				if err != nil {
					continue // it had to give way at once
				}
				_ = conn.SetDeadline(time.Now().Add(patience))
				_, _ = conn.Write(framed(id, 20))
				if reply, err := readFramed(conn); err == nil && !isEcho(reply, id, 20) {
					t.Errorf("query %d: %x", id, reply)
				}
				_ = conn.Close()
			}
		})
	}
	all.Wait()
	eventually(t, "all gone", func() bool { return s.Stats().Open == 0 })
	if got := s.Stats(); got.Connections < 8 || got.Connections > 320 || got.TCP.Answered < 8 || got.Refused != 0 {
		t.Errorf("%+v", got)
	}
	if n := len(s.tcp.pool.clients); n != 0 {
		t.Errorf("%d clients remembered", n)
	}
}
