package dnsserver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// closed demands that the server ended the connection, in any way that a peer can.
func closed(t *testing.T, conn net.Conn) {
	t.Helper()
	if n, err := conn.Read(make([]byte, 10)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("still open: %d octets, %v", n, err)
	}
}

func TestTCPPipelining(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}}, echo)
	conn := dial(t, "tcp", s.Addrs()[0])
	sizes := []int{12, 40, 5000, 12, 65535, 300, 20000, 13}
	var all []byte
	for id, size := range sizes {
		all = append(all, framed(uint16(id), size)...)
	}
	for round := range 3 {
		go func() {
			if round == 1 { // in two pieces that split a length
				_, _ = conn.Write(all[:1])
				all = all[1:]
			}
			_, _ = conn.Write(all)
		}()
		for id, size := range sizes {
			reply, err := readFramed(conn)
			if err != nil || !isEcho(reply, uint16(id), size) {
				t.Fatalf("query %d of %d octets: got %d octets, %v", id, size, len(reply), err)
			}
		}
		if round == 1 {
			all = append(framed(0, sizes[0])[:1:1], all...)
		}
	}
}

func TestTCPByteByByte(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}}, echo)
	conn := dial(t, "tcp", s.Addrs()[0])
	for id := range uint16(3) {
		for _, b := range framed(id, 20) {
			if _, err := conn.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if reply, err := readFramed(conn); err != nil || !isEcho(reply, id, 20) {
			t.Fatalf("query %d: %x %v", id, reply, err)
		}
	}
}

// Queries before a half-close or a broken length are answered; then the connection ends.
func TestTCPEnds(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}}, echo)
	for _, tail := range [][]byte{nil, {0, 0}, {0, 11}, {0, 40, 1}} {
		conn := dial(t, "tcp", s.Addrs()[0])
		_, _ = conn.Write(append(append(framed(1, 30), framed(2, 40)...), tail...))
		if tail == nil || tail[1] == 40 {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		for i, size := range []int{30, 40} {
			if reply, err := readFramed(conn); err != nil || !isEcho(reply, uint16(i+1), size) {
				t.Errorf("tail %x: query %d: %x %v", tail, i+1, reply, err)
			}
		}
		closed(t, conn)
	}
	eventually(t, "all connections gone", func() bool { return s.Stats().Open == 0 })
}

// What gets no answer does not disturb what follows.
func TestTCPSilence(t *testing.T) {
	respond := func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		switch packet[1] {
		case 1:
			return dst
		case 2:
			return make([]byte, 1<<16) // cannot be framed
		}
		return echo(dst, packet, client, transport)
	}
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}}, respond)
	conn := dial(t, "tcp", s.Addrs()[0])
	_, _ = conn.Write(append(framed(1, 20), framed(2, 20)...))
	askTCP(t, conn, 3, 20)
	want := Counts{Received: 3, Answered: 1, Dropped: 2}
	eventually(t, "counted", func() bool { return s.Stats().TCP == want })
}

// The timeouts, in virtual time: what a client may do slowly, and what ends it.
func TestTCPTimeouts(t *testing.T) {
	const idle, message = 10 * time.Second, 5 * time.Second
	for _, c := range []struct {
		name   string
		client func(conn net.Conn)
		want   time.Duration
	}{
		{"says nothing", func(net.Conn) {}, idle},
		{"one query", func(conn net.Conn) { exchange(conn, 1) }, idle},
		{"a query each 9 s", func(conn net.Conn) {
			for range 5 {
				<-time.After(9 * time.Second)
				exchange(conn, 1)
			}
		}, 45*time.Second + idle},
		{"half a query", func(conn net.Conn) { _, _ = conn.Write(framed(1, 20)[:9]) }, message},
		{"half a length", func(conn net.Conn) { _, _ = conn.Write([]byte{0}) }, message},
		{"a drip", func(conn net.Conn) {
			for _, b := range framed(1, 20) {
				<-time.After(time.Second)
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
			}
		}, time.Second + message},
		{"a query, then half of one", func(conn net.Conn) {
			go func() { _, _ = conn.Write(append(framed(1, 20), 0, 20, 0)) }()
			_, _ = readFramed(conn)
		}, message},
		{"asks and does not read", func(conn net.Conn) { _, _ = conn.Write(framed(1, 20)) }, message},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(Options{TCP: TCPLimits{IdleTimeout: idle, MessageTimeout: message}}, echo)
				session := s.tcp.sessions.Get().(*tcpSession)
				client, conn := net.Pipe()
				var done sync.WaitGroup
				done.Go(func() { c.client(client) })
				begin := time.Now()
				session.serve(conn, nil)
				if got := time.Since(begin); got != c.want {
					t.Errorf("ended after %v, want %v", got, c.want)
				}
				_, _ = conn.Close(), client.Close()
				done.Wait()
			})
		})
	}
}

// exchange asks and reads the answer.
func exchange(conn net.Conn, id uint16) {
	_, _ = conn.Write(framed(id, 20))
	_, _ = readFramed(conn)
}

// Clients that are slow in every way do not delay another one.
func TestTCPSlowClientsDelayNobody(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}}, echo)
	stuck(t, s)
	for range 20 {
		_, _ = dial(t, "tcp", s.Addrs()[0]).Write(framed(1, 500)[:100])
	}
	conn := dial(t, "tcp", s.Addrs()[0])
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second)) // for all of them; a slow client has 5 s
	for id := range uint16(100) {
		askTCP(t, conn, id, 100)
	}
	if open := s.Stats().Open; open != 22 {
		t.Errorf("%d connections open, want 22", open)
	}
}

// A client that takes no answers is dropped and counted.
func TestTCPSlowReaderIsDropped(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, TCP: TCPLimits{MessageTimeout: 50 * time.Millisecond}}, echo)
	conn := dial(t, "tcp", s.Addrs()[0])
	_ = conn.(*net.TCPConn).SetReadBuffer(1 << 12)
	message := bytes.Repeat(framed(1, 60000), 50)
	for {
		if _, err := conn.Write(message); err != nil {
			break
		}
	}
	eventually(t, "dropped", func() bool { return s.Stats().Open == 0 })
	if s.Stats().TCP.SendErrors != 1 {
		t.Errorf("%+v, want one send error", s.Stats().TCP)
	}
}

func TestTCPManyClients(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}}, echo)
	var all sync.WaitGroup
	for c := range 30 {
		conn := dial(t, "tcp", s.Addrs()[0])
		all.Go(func() {
			for id := range uint16(50) {
				size := 20 + c*100
				_, _ = conn.Write(framed(id, size))
				if reply, err := readFramed(conn); err != nil || !isEcho(reply, id, size) {
					t.Errorf("client %d query %d: %v", c, id, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// A session's memory goes from one connection to the next: nothing of the first may show in the second, and large buffers are let go.
func TestTCPSessionStartsClean(t *testing.T) {
	s := newServer(Options{}, echo)
	session := s.tcp.sessions.New().(*tcpSession)
	for range 2 {
		client, conn := net.Pipe()
		ended := make(chan bool)
		go func() { session.serve(conn, nil); close(ended) }()
		go func() { _, _ = client.Write(append(framed(5, 60000), 0, 99, 1, 2, 3)) }()
		if reply, err := readFramed(client); err != nil || !isEcho(reply, 5, 60000) {
			t.Fatalf("%d octets, %v", len(reply), err)
		}
		_ = client.Close()
		<-ended
		if len(session.in)+len(session.out)+len(session.reply) != 0 || cap(session.in) > tcpLarge || cap(session.out) > tcpLarge || cap(session.reply) > tcpLarge {
			t.Errorf("left behind: in %d/%d out %d/%d reply %d/%d", len(session.in), cap(session.in), len(session.out), cap(session.out), len(session.reply), cap(session.reply))
		}
	}
}

// brokenListener fails some times, then gives one connection, then is closed.
type brokenListener struct {
	net.Listener
	failures int
	conn     net.Conn
	done     chan struct{}
}

func (l *brokenListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 53} }
func (l *brokenListener) Close() error   { return nil }
func (l *brokenListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

// Out of file descriptors the listener waits, longer each time, and goes on; a stop ends the wait.
func TestTCPAcceptWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.ErrorLevel)
		s := newServer(Options{Log: zap.New(core)}, echo)
		client, conn := net.Pipe()
		defer client.Close()
		l := newTCPListener(&brokenListener{failures: 10, conn: conn}, s.tcp)
		begin := time.Now()
		got, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		want := (5+10+20+40+80+160+320+640)*time.Millisecond + 2*time.Second
		if took := time.Since(begin); took != want || logs.Len() != 1 {
			t.Errorf("waited %v with %d log lines, want %v and 1", took, logs.Len(), want)
		}
		if got.(*tcpConn).Conn != conn {
			t.Error("not the connection that came")
		}
		_, _ = got.Close(), got.Close()
		if open := s.Stats().Open; open != 0 {
			t.Errorf("%d open after two closes", open)
		}
		l = newTCPListener(&brokenListener{failures: 1}, s.tcp)
		close(l.stopping)
		if _, err := l.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Errorf("Accept at a stop: %v", err)
		}
	})
}

// At the limit of file descriptors, where one comes free now and then, the log has a line a minute, and each connection is taken as soon
// as it can be.
func TestTCPAcceptLogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.ErrorLevel)
		s := newServer(Options{Log: zap.New(core)}, echo)
		inner := &brokenListener{}
		l, begin := newTCPListener(inner, s.tcp), time.Now()
		for range 30_000 {
			client, conn := net.Pipe()
			inner.failures, inner.conn = 1, conn
			got, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			_, _ = got.Close(), client.Close()
		}
		if took := time.Since(begin); took != 150*time.Second {
			t.Errorf("30000 connections took %v", took)
		}
		var lines []string
		for _, e := range logs.All() {
			lines = append(lines, fmt.Sprint(e.Message, " ", e.ContextMap()))
		}
		if len(lines) != 3 || lines[1] != "tcp accept failed, trying again map[address:127.0.0.1:53 error:accept: accept4: too many open files failures:12000]" {
			t.Errorf("logged\n%s", strings.Join(lines, "\n"))
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
