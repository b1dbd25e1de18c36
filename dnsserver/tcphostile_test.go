package dnsserver

import (
	"bytes"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"
)

// hostile opens connections whose clients misbehave in one way until the test ends.
func hostile(t *testing.T, s *Server, n int, behave func(net.Conn)) {
	t.Helper()
	var all sync.WaitGroup
	var open []net.Conn
	for range n {
		conn := dial(t, "tcp", s.Addrs()[0])
		_ = conn.(*net.TCPConn).SetReadBuffer(1 << 12)
		_ = conn.SetDeadline(time.Time{})
		open = append(open, conn)
		all.Go(func() { behave(conn) })
	}
	t.Cleanup(func() {
		for _, conn := range open {
			_ = conn.Close()
		}
		all.Wait()
	})
}

// flood writes the same octets until the connection ends.
func flood(message []byte) func(net.Conn) {
	return func(conn net.Conn) {
		for {
			if _, err := conn.Write(message); err != nil {
				return
			}
		}
	}
}

// Clients that are slow or hostile in every way delay nobody: another one gets its answers while they are at it, also
// when they keep every core busy.
func TestTCPHostileClientsDelayNobody(t *testing.T) {
	for name, behave := range map[string]func(net.Conn){
		"an octet at a time": func(conn net.Conn) {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for _, b := range bytes.Repeat(framed(1, 100), 100) {
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
				<-tick.C
			}
		},
		"half open":                         func(conn net.Conn) { _ = conn.(*net.TCPConn).CloseWrite() },
		"reads nothing, short queries":      flood(bytes.Repeat(framed(1, 20), 5000)),
		"reads nothing, long queries":       flood(framed(1, 65535)),
		"asks and reads an octet at a time": func(conn net.Conn) { go drip(conn); flood(framed(1, 5000))(conn) },
		"junk":                              flood(bytes.Repeat([]byte{0, 12, 0x80, 0x80, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 100)),
		"resets": func(conn net.Conn) {
			_, _ = conn.Write(bytes.Repeat(framed(1, 200), 100))
			abort(conn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, Options{Listen: []string{"127.0.0.1:0"}}, echo)
			hostile(t, s, 30, behave)
			eventually(t, "all accepted", func() bool { return s.Stats().Connections == 30 })
			conn := dial(t, "tcp", s.Addrs()[0])
			_ = conn.SetDeadline(time.Now().Add(4 * time.Second)) // for all of them; a slow client alone may take 5 s
			for id := range uint16(20) {
				askTCP(t, conn, id, 100)
			}
			ask(t, dial(t, "udp", s.Addrs()[0]), 1, 100)
		})
	}
}

// drip reads an octet now and then.
func drip(conn net.Conn) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return
		}
	}
}

// However much clients ask without reading, the server holds a bounded part of it: it reads no more while they take no answers.
func TestTCPMemoryIsBounded(t *testing.T) {
	const clients = 50
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, TCP: TCPLimits{MessageTimeout: time.Minute}}, echo)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	hostile(t, s, clients, flood(bytes.Repeat(framed(1, 60000), 20)))
	last := uint64(0)
	eventually(t, "all are stuck", func() bool {
		tick := time.NewTimer(100 * time.Millisecond)
		defer tick.Stop()
		<-tick.C
		now := s.Stats().TCP.Received
		same := now >= clients && now == last
		last = now
		return same
	})
	if grown := int64(heap()-before) / clients; grown > 400<<10 {
		t.Errorf("%d octets for each client", grown)
	}
	if last > clients*20 {
		t.Errorf("%d queries of 60000 octets were read from %d clients that took no answers", last, clients)
	}
}
