package dnsserver

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// startLimited starts a server that answers from the test zone.
func startLimited(t *testing.T, opts Options) *Server {
	t.Helper()
	return startAnswering(t, opts, testZone(t))
}

// startAnswering starts a server that answers from zones for the time of a test.
func startAnswering(t *testing.T, opts Options, zones map[string]string) *Server {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	r, _ := newTestResponder(t, zones)
	opts.Listen = []string{"127.0.0.1:0"}
	s := New(opts)
	s.SetTable(r.table.Load())
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop(t, s)
		goleak.VerifyNone(t, leaks)
	})
	return s
}

// Over real sockets: a flood gets what the rate allows, what slips sends a true client to TCP, and TCP answers.
func TestRateLimitOverSockets(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	s := startLimited(t, Options{Workers: 2, Log: zap.New(core)})
	s.SetRateLimit(RateLimit{ResponsesPerSecond: 10, Slip: 2})
	packet := kind{ask: "plain" + inZone, qtype: dns.TypeA}.packet(t)
	const each, clients = 100, 12 // from several ports, so that they meet different workers
	for i := range uint64(clients) {
		conn := dial(t, "udp", s.Addrs()[0])
		for range each {
			if _, err := conn.Write(packet); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "all received", func() bool { return s.Stats().UDP.Received == each*(i+1) })
	}
	eventually(t, "all counted", func() bool { o := s.Stats().Outcomes; return o.Positive == each*clients })
	got := s.Stats()
	whole := each*clients - got.Outcomes.Limited - got.Outcomes.Slipped
	if whole < 10 || whole > 10+10*uint64(patience/time.Second) || got.Outcomes.Slipped+1 < got.Outcomes.Limited || got.Outcomes.Slipped > got.Outcomes.Limited+10 {
		t.Errorf("%d whole answers; %+v", whole, got)
	}
	eventually(t, "dropped", func() bool { return s.Stats().UDP.Dropped == s.Stats().Outcomes.Limited })

	client := dns.Client{Net: "tcp", Timeout: patience}
	for range 50 {
		m, _, err := client.Exchange(new(dns.Msg).SetQuestion("plain"+inZone, dns.TypeA), s.Addrs()[0].String())
		if err != nil || len(m.Answer) != 1 {
			t.Fatalf("over TCP: %v %v", m, err)
		}
	}
	eventually(t, "logged", func() bool { return logs.FilterMessage("rate limiting began").Len() == 1 })
	if got := logs.FilterMessage("rate limiting began").All()[0].ContextMap()["prefix"]; got != "127.0.0.0/24" {
		t.Errorf("logged prefix %v", got)
	}
	s.SetRateLimit(RateLimit{})
	if logs.FilterMessage("rate limiting ended").Len() != 1 {
		t.Error("the end is not logged")
	}
}

// A limit that changes holds at once, one that does not change keeps its counts, and none of them leaves its clock running.
func TestSetRateLimit(t *testing.T) {
	s := startLimited(t, Options{Workers: 1})
	packet := kind{ask: "plain" + inZone, qtype: dns.TypeA}.packet(t)
	conn := dial(t, "udp", s.Addrs()[0])
	answered := func() (n int) {
		before := s.Stats()
		for range 20 {
			_, _ = conn.Write(packet)
		}
		eventually(t, "answered or not", func() bool {
			return s.Stats().UDP.Answered+s.Stats().UDP.Dropped == before.UDP.Answered+before.UDP.Dropped+20
		})
		return int(s.Stats().UDP.Answered - before.UDP.Answered)
	}
	set := func(o RateLimit) *rateLimiter {
		s.SetRateLimit(o)
		return s.limiter.Load()
	}
	if got := answered(); got != 20 {
		t.Errorf("%d of 20 without a limit", got)
	}
	exempt := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	first := set(RateLimit{ResponsesPerSecond: 1, Exempt: exempt})
	if got := answered(); got < 1 || got > 10 {
		t.Errorf("%d of 20 at a rate of 1", got)
	}
	if set(RateLimit{ResponsesPerSecond: 1, ErrorsPerSecond: 1, IPv4Prefix: 24, Exempt: []netip.Prefix{exempt[0]}}) != first {
		t.Error("the same limit, and the counts were lost")
	}
	if set(RateLimit{ResponsesPerSecond: 1, Slip: 1, Exempt: exempt}) == first {
		t.Error("another slip, and nothing changed")
	}
	if got := answered(); got != 20 {
		t.Errorf("%d of 20 with slip 1", got)
	}
	s.SetRateLimit(RateLimit{ResponsesPerSecond: 1, Exempt: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if got := answered(); got != 20 {
		t.Errorf("%d of 20 for an exempt client", got)
	}
	s.SetRateLimit(RateLimit{})
	if got := answered(); got != 20 || s.limiter.Load() != nil {
		t.Errorf("%d of 20 after the limit was lifted", got)
	}
}

// A limit set before the start begins to count with it; one set after the stop does nothing.
func TestRateLimitLife(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := New(Options{Listen: []string{"127.0.0.1:0"}})
	s.SetRateLimit(RateLimit{ResponsesPerSecond: 1})
	s.SetRateLimit(RateLimit{ResponsesPerSecond: 2})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	l := s.limiter.Load()
	eventually(t, "the clock runs", func() bool { return l.now.Load() > 0 })
	stop(t, s)
	s.SetRateLimit(RateLimit{ResponsesPerSecond: 3})
	if s.limiter.Load() != nil {
		t.Error("a limit after the stop")
	}
	stop(t, s)
}

// The clock goes with time, in its steps.
func TestRateLimitClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newRateLimiter(RateLimit{ResponsesPerSecond: 1}, zap.NewNop())
		l.start()
		for step := range 40 {
			<-time.After(clockStep)
			synctest.Wait()
			if got, want := time.Duration(l.now.Load()), clockStep*time.Duration(step+1); got != want {
				t.Fatalf("after %v: %v", want, got)
			}
		}
		l.stop()
	})
}

// BenchmarkRateLimit measures one reply with and without a limit that is not reached.
func BenchmarkRateLimit(b *testing.B) {
	for name, rate := range map[string]int{"off": 0, "on": 30000} {
		b.Run(name, func(b *testing.B) {
			r, _ := newTestResponder(b, map[string]string{"gslb.example.com.": benchZone})
			if rate > 0 {
				r.rate.Store(newRateLimiter(RateLimit{ResponsesPerSecond: rate, LogOnly: true}, zap.NewNop()))
			}
			packet, dst := kind{ask: "one" + inZone, qtype: dns.TypeA, edns: true}.packet(b), make([]byte, 0, 1232)
			client, now := netip.MustParseAddrPort("192.0.2.1:53"), int64(0)
			for b.Loop() {
				if l := r.rate.Load(); l != nil {
					now += int64(time.Second) / int64(rate)
					l.now.Store(now)
				}
				r.Respond(dst, packet, client, UDP)
			}
		})
	}
}
