package dnsserver

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestPrefixes(t *testing.T) {
	seen := map[uint64]string{}
	for _, c := range []struct {
		bits4, bits6  int
		address, want string
	}{
		{24, 56, "192.0.2.77", "192.0.2.0/24"},
		{32, 56, "192.0.2.77", "192.0.2.77/32"},
		{8, 56, "192.0.2.77", "192.0.0.0/8"},
		{24, 56, "0.0.0.1", "0.0.0.0/24"},
		{24, 56, "255.255.255.255", "255.255.255.0/24"},
		{24, 56, "2001:db8:1:2ff::1", "2001:db8:1:200::/56"},
		{24, 64, "2001:db8:1:2ff::1", "2001:db8:1:2ff::/64"},
		{24, 16, "2001:db8::1", "2001::/16"},
		{24, 56, "::1", "::/56"},
		{24, 64, "0:0:c000:200::", "0:0:c000:200::/64"},
	} {
		a := activePrefixes{bits4: c.bits4, bits6: c.bits6}
		key := a.prefix(netip.MustParseAddr(c.address))
		if got := a.named(key).String(); got != c.want || key == 0 {
			t.Errorf("%s: %s, want %s", c.address, got, c.want)
		}
		if other, double := seen[key]; double {
			t.Errorf("%s and %s have one key", other, c.want)
		}
		seen[key] = c.want
	}
}

// The log: a line when a prefix is limited, one when it was quiet for a minute, and its count.
func TestLimitingIsLogged(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	a := activePrefixes{log: zap.New(core), bits4: 24, bits6: 56}
	key := a.prefix(netip.MustParseAddr("192.0.2.1"))
	for now := time.Duration(0); now < 200*time.Second; now += clockStep {
		if now < 10*time.Second || now == 40*time.Second {
			a.note(key, int64(now))
			a.note(key, int64(now))
		}
		a.sweep(int64(now))
	}
	lines := logs.All()
	if len(lines) != 2 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	for i, want := range []string{
		"warn rate limiting began map[log_only:false prefix:192.0.2.0/24]",
		"info rate limiting ended map[answers_over_limit:402 lasted:40s log_only:false prefix:192.0.2.0/24]",
	} {
		if got := fmt.Sprint(lines[i].Level, " ", lines[i].Message, " ", lines[i].ContextMap()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// However many prefixes are limited, the lines are bounded, and every line of an end has had one of a beginning.
func TestLogIsBounded(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	a := activePrefixes{log: zap.New(core), bits4: 24, bits6: 56}
	for i := range 100_000 {
		a.note(a.prefix(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i)})), int64(i)*int64(time.Millisecond))
		if i%50 == 0 {
			a.sweep(int64(i) * int64(time.Millisecond))
		}
	}
	if n := logs.Len(); n < activeSize/2 || n > 3*activeSize {
		t.Errorf("%d lines in 100 s", n)
	}
	a.endAll(int64(100 * time.Second))
	began, ended := logs.FilterMessage("rate limiting began").Len(), logs.FilterMessage("rate limiting ended").Len()
	if began != ended {
		t.Errorf("%d began and %d ended", began, ended)
	}
}

// A prefix that several workers find over its limit at the same moment is logged once.
func TestLimitingIsLoggedOnce(t *testing.T) {
	for round := range 2000 {
		core, logs := observer.New(zap.DebugLevel)
		a := activePrefixes{log: zap.New(core), bits4: 24, bits6: 56}
		key, begin := a.prefix(netip.MustParseAddr("192.0.2.1")), make(chan struct{})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				<-begin
				a.note(key, 1)
			})
		}
		close(begin)
		all.Wait()
		a.endAll(2)
		ends := logs.FilterMessage("rate limiting ended").All()
		if len(ends) != 1 || ends[0].ContextMap()["answers_over_limit"] != uint64(8) {
			t.Fatalf("round %d: %v", round, ends)
		}
	}
}
