package probe

import (
	"net/netip"
	"testing"
	"time"
)

func TestDetectAndRecover(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		about           string
		check           Check
		detect, recover time.Duration
	}{
		{"every 30 s, 5 s, threshold 3", Check{Interval: 30 * s, Timeout: 5 * s, Fall: 3, Rise: 3}, 75 * s, 60 * s},
		{"every 2 s, 3 s, threshold 3", Check{Interval: 2 * s, Timeout: 3 * s, Fall: 3, Rise: 3}, 13 * s, 4 * s},
		{"defaults", Check{Interval: 10 * s, Timeout: 5 * s, Fall: 2, Rise: 3}, 20 * s, 20 * s},
		{"first failure decides", Check{Interval: 10 * s, Timeout: 5 * s, Fall: 1, Rise: 1}, 5 * s, 0},
		{"2 retries", Check{Interval: 300 * s, Timeout: 5 * s, Retries: 2, Fall: 1, Rise: 1}, 15 * s, 0},
		{"2 of 4", Check{Interval: 30 * s, Timeout: 5 * s, Fall: 9, Rise: 9, Window: &Window{4, 2}}, 75 * s, 30 * s},
		{"the longest that a configuration allows", Check{Interval: 24 * time.Hour, Timeout: 5 * time.Minute, Retries: 10, Fall: 100, Rise: 100},
			100*55*time.Minute + 99*24*time.Hour, 99 * 24 * time.Hour},
		{"nothing set", Check{}, 0, 0},
	} {
		if got := c.check.Detect(); got != c.detect {
			t.Errorf("%s: Detect is %s, want %s", c.about, got, c.detect)
		}
		if got := c.check.Recover(); got != c.recover {
			t.Errorf("%s: Recover is %s, want %s", c.about, got, c.recover)
		}
	}
}

func TestPortAndAddress(t *testing.T) {
	v6 := netip.MustParseAddr("2001:db8::1")
	web := httpCheck(long, nil)
	secure := httpCheck(long, func(o *HTTP) { o.Scheme, o.Port = "https", 0 })
	bare := httpCheck(long, func(o *HTTP) { o.Port = 0 })
	ping := Check{Type: "icmp", ICMP: &ICMP{Count: 1, Size: 24}}
	for _, c := range []struct {
		check   Check
		target  Target
		port    uint16
		address string
	}{
		{web, Target{Addr: local}, 80, "127.0.0.1:80"},
		{web, Target{Addr: local, Port: 8080}, 8080, "127.0.0.1:8080"},
		{web, Target{Addr: v6}, 80, "[2001:db8::1]:80"},
		{secure, Target{Addr: v6}, 443, "[2001:db8::1]:443"},
		{bare, Target{Addr: local}, 80, "127.0.0.1:80"},
		{tcpCheck(long, TCP{Port: 25}), Target{Addr: netip.MustParseAddr("::ffff:127.0.0.1")}, 25, "127.0.0.1:25"},
		{tlsCheck(long, TLS{Port: 443}), Target{Addr: local}, 443, "127.0.0.1:443"},
		{udpCheck(long, UDP{Port: 5000}), Target{Addr: v6}, 5000, "[2001:db8::1]:5000"},
		{dnsCheck(long, DNS{Port: 53}), Target{Addr: local}, 53, "127.0.0.1:53"},
		{dnsCheck(long, DNS{Port: 53}), Target{Addr: local, Port: 5353}, 5353, "127.0.0.1:5353"},
		{ping, Target{Addr: local, Port: 8443}, 0, "127.0.0.1"},
		{ping, Target{Addr: v6}, 0, "2001:db8::1"},
		{Check{}, Target{Addr: local}, 0, "127.0.0.1:0"},
	} {
		if got := c.check.Port(c.target); got != c.port {
			t.Errorf("%s: port %d, want %d", c.address, got, c.port)
		}
		if got := c.check.Address(c.target); got != c.address {
			t.Errorf("address %s, want %s", got, c.address)
		}
	}
}
