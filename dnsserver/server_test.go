package dnsserver

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestServesBothTransportsAndFamilies(t *testing.T) {
	haveIPv6(t)
	type seen struct {
		client    netip.AddrPort
		transport Transport
	}
	got := make(chan seen, 1)
	s := start(t, Options{Listen: []string{"127.0.0.1:0", "[::1]:0"}}, func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		got <- seen{client, transport}
		return echo(dst, packet, client, transport)
	})
	addrs := s.Addrs()
	if len(addrs) != 2 || addrs[0].Addr().String() != "127.0.0.1" || addrs[1].Addr().String() != "::1" || addrs[0].Port() == 0 {
		t.Fatalf("Addrs: %v", addrs)
	}
	for _, addr := range addrs {
		for _, transport := range []Transport{UDP, TCP} {
			conn := dial(t, transport.String(), addr)
			if transport == UDP {
				ask(t, conn, 7, 40)
			} else {
				askTCP(t, conn, 7, 40)
			}
			want := seen{netip.MustParseAddrPort(conn.LocalAddr().String()), transport}
			if g := <-got; g != want {
				t.Errorf("Respond was told %v, want %v", g, want)
			}
		}
	}
	want := Stats{UDP: Counts{Received: 2, Answered: 2}, TCP: Counts{Received: 2, Answered: 2}, Connections: 2, Open: 2}
	eventually(t, "counted", func() bool { return s.Stats() == want })
}

func TestRestartOnTheSamePort(t *testing.T) {
	first := newServer(Options{Listen: []string{"127.0.0.1:0"}}, echo)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	addr := first.Addrs()[0]
	askTCP(t, dial(t, "tcp", addr), 1, 40) // the server closes first, so the port keeps a TIME_WAIT
	ask(t, dial(t, "udp", addr), 1, 40)
	stop(t, first)
	stop(t, first) // twice does no harm
	if err := first.Start(); !errors.Is(err, errStarted) {
		t.Errorf("a second Start: %v", err)
	}
	second := start(t, Options{Listen: []string{addr.String()}}, echo)
	ask(t, dial(t, "udp", second.Addrs()[0]), 2, 40)
	askTCP(t, dial(t, "tcp", second.Addrs()[0]), 2, 40)
	if first.Stats().UDP.Answered != 1 {
		t.Error("the counters of a stopped server are gone")
	}
}

func TestStopWithoutStart(t *testing.T) {
	s := New(Options{Listen: []string{"127.0.0.1:0"}})
	stop(t, s)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	addr := s.Addrs()[0].String()
	stop(t, s) // the first Stop must not have been this one
	stop(t, start(t, Options{Listen: []string{addr}}, echo))
}

// Clients of both transports keep asking while the server stops: it must end in peace, and every answer that comes must be right.
func TestStopUnderLoad(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 2}, echo)
	var clients sync.WaitGroup
	var answers atomic.Int64
	for i := range 8 {
		network := []string{"udp", "tcp"}[i%2]
		conn := dial(t, network, s.Addrs()[0])
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		clients.Go(func() {
			buffer := make([]byte, 100)
			for id := uint16(0); ; id++ {
				if network == "tcp" {
					_, _ = conn.Write(framed(id, 40))
					if reply, err := readFramed(conn); err != nil {
						return
					} else if !isEcho(reply, id, 40) {
						t.Errorf("tcp: query %d: got %x", id, reply)
					}
				} else {
					_, _ = conn.Write(query(id, 40))
					if n, err := conn.Read(buffer); err != nil {
						return
					} else if !isEcho(buffer[:n], id, 40) {
						t.Errorf("udp: query %d: got %x", id, buffer[:n])
					}
				}
				answers.Add(1)
			}
		})
	}
	eventually(t, "load", func() bool { return answers.Load() > 1000 })
	stop(t, s)
	clients.Wait()
}

// A server that must stop while a client takes no answers cuts it off when the context ends, says so, and leaves nothing behind.
func TestStopCutsOffStuckClients(t *testing.T) {
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, TCP: TCPLimits{MessageTimeout: time.Hour}}, echo)
	stuck(t, s)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err := s.Stop(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 connections cut off") {
		t.Errorf("Stop: %v", err)
	}
}

// stuck opens a TCP connection whose client asks and never reads, and returns when the server can write no more to it.
func stuck(t *testing.T, s *Server) {
	t.Helper()
	conn := dial(t, "tcp", s.Addrs()[0])
	_ = conn.(*net.TCPConn).SetReadBuffer(1 << 12)
	go func() {
		message := framed(1, 60000)
		for {
			if _, err := conn.Write(message); err != nil {
				return
			}
		}
	}()
	last, still := uint64(0), 0
	eventually(t, "the client blocks the server", func() bool {
		tick := time.NewTimer(50 * time.Millisecond)
		defer tick.Stop()
		<-tick.C
		now := s.Stats().TCP.Answered
		if still++; now != last {
			last, still = now, 0
		}
		return now > 0 && still >= 5 // a busy machine stops for a moment, too
	})
}

func TestPanicDropsThePacketOnly(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	panicky := func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		if packet[1] == 66 {
			panic("sixty-six")
		}
		return echo(dst, packet, client, transport)
	}
	s := start(t, Options{Listen: []string{"127.0.0.1:0"}, Log: zap.New(core)}, panicky)
	udp, tcp := dial(t, "udp", s.Addrs()[0]), dial(t, "tcp", s.Addrs()[0])
	for range 3 {
		_, _ = udp.Write(query(66, 20))
		ask(t, udp, 1, 20)
		_, _ = tcp.Write(framed(66, 20))
		askTCP(t, tcp, 1, 20)
	}
	want := Counts{Received: 6, Answered: 3, Dropped: 3, Panics: 3}
	eventually(t, "counted", func() bool { return s.Stats().UDP == want && s.Stats().TCP == want })
	if logs.Len() != 1 {
		t.Fatalf("%d log lines, want one", logs.Len())
	}
	fields := logs.All()[0].ContextMap()
	if fields["packet"] != "0042"+strings.Repeat("00", 10)+"4e4f505152535455" || fields["panic"] != "sixty-six" || fields["client"] != udp.LocalAddr().String() {
		t.Errorf("logged %v", fields)
	}
	if !strings.Contains(fields["stack"].(string), "server_test.go") {
		t.Error("the stack does not show where")
	}
}
