package probe

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
)

func TestSource(t *testing.T) {
	var seen atomic.Value
	at := serve(t, func(c net.Conn) { seen.Store(c.RemoteAddr().(*net.TCPAddr).IP.String()); hold(c) })
	c := tcpCheck(long, TCP{})
	c.Source = []netip.Addr{netip.IPv6Loopback(), netip.MustParseAddr("127.9.8.7")}
	c.TCP.Send = []byte("x") // so that the target has seen us
	want(t, run(t, c, target(at)), Pass, "")
	c.TCP.Expect = []byte("never")
	c.Timeout = short
	run(t, c, target(at))
	if got := seen.Load(); got != "127.9.8.7" {
		t.Errorf("probed from %v", got)
	}
}

func TestSourceIPv6(t *testing.T) {
	if noIPv6() {
		return
	}
	at := serveOn(t, "[::1]:0", hold)
	c := tcpCheck(long, TCP{})
	c.Source = []netip.Addr{local, netip.IPv6Loopback()}
	want(t, run(t, c, target(at)), Pass, "")
}

func TestSourceThatIsNotOurs(t *testing.T) {
	at := serve(t, hold)
	for name, c := range fullChecks() {
		c.Source = []netip.Addr{netip.MustParseAddr("192.0.2.9")}
		if c.HTTP != nil {
			o := *c.HTTP
			c.HTTP, o.Username, o.CAFile, o.CertFile, o.KeyFile = &o, "", "", "", ""
			o.Redirects = 0
		}
		switch {
		case c.TLS != nil:
			c.TLS = &TLS{Port: 443}
		case c.GRPC != nil:
			o := *c.GRPC
			c.GRPC, o.CAFile = &o, ""
		case c.Exec != nil, c.File != nil:
			continue // they open no socket
		}
		t.Run(name, func(t *testing.T) {
			want(t, run(t, c, target(at)), Fault, "source 192.0.2.9 is not an address of this machine")
		})
	}
}

// A process without free descriptors has learnt nothing about its targets.
func TestNoDescriptors(t *testing.T) {
	if !child(t, nil) {
		return
	}
	at := serve(t, hold)
	const reason = "no file descriptors left (raise LimitNOFILE or lower health.max_in_flight)"
	checks := map[string]Check{
		"tcp":          tcpCheck(long, TCP{}),
		"tls":          tlsCheck(long, TLS{}),
		"udp":          udpCheck(long, UDP{}),
		"dns":          dnsCheck(long, DNS{}),
		"dns over tcp": dnsCheck(long, DNS{TCP: true}),
		"icmp":         {Type: "icmp", Timeout: long, ICMP: &ICMP{Count: 1, Size: 24}},
	}
	probers := map[string]Prober{}
	for name, c := range checks {
		p, err := New(c, target(at), false)
		if err != nil {
			t.Fatal(err)
		}
		probers[name] = p
	}
	run(t, checks["tcp"], target(at)) // what the runtime opens once is open now
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	for name, p := range probers {
		phase := "connect: "
		if name == "icmp" {
			phase = "icmp: "
		}
		want(t, p.Probe(context.Background()), Fault, phase+reason)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	want(t, probers["tcp"].Probe(context.Background()), Pass, "")
}
