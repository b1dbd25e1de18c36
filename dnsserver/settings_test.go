package dnsserver

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestClock lets time pass: the clock follows within a second, until it is stopped.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stopping, begin := NewShared(), make(chan struct{}), time.Now()
		if s.now.Load() != uint32(begin.Unix()) {
			t.Errorf("starts at %d", s.now.Load())
		}
		go s.tick(stopping)
		<-time.After(90*time.Minute + time.Millisecond)
		synctest.Wait()
		if got := s.now.Load() - uint32(begin.Unix()); got != 5400 {
			t.Errorf("%d s after 90 minutes", got)
		}
		close(stopping)
		<-time.After(time.Hour)
		if got := s.now.Load() - uint32(begin.Unix()); got != 5400 {
			t.Errorf("%d s though stopped", got)
		}
	})
}

// TestIdleAnnounced holds what is announced to the bounds of the option.
func TestIdleAnnounced(t *testing.T) {
	for idle, want := range map[time.Duration]uint32{time.Second: 10, 1230 * time.Millisecond: 12, 3 * time.Hour: 65535, 0: 100} {
		if got := New(Options{TCP: TCPLimits{IdleTimeout: idle}}).Shared().keepalive.Load(); got != want {
			t.Errorf("%v: %d, want %d", idle, got, want)
		}
	}
}

// TestDigOptions has the real dig check cookies, NSID, client subnet and the texts of class CHAOS over real sockets.
func TestDigOptions(t *testing.T) {
	program, err := exec.LookPath("dig")
	if err != nil {
		skip(t, "dig is not installed")
	}
	s := started(t, tableOf(t, "192.0.2.10"), "127.0.0.1:0")
	set := DefaultSettings()
	set.NSID, set.Version, set.UDPSizeWithoutCookie, set.UDPSize = "tokyo-1", "gslbd test", 1232, 4096
	s.Shared().Set(set)
	dig := func(args ...string) string {
		all := append([]string{"@127.0.0.1", "-p", fmt.Sprint(s.Addrs()[0].Port()), "+tries=1", "+time=5", "+norecurse"}, args...)
		out, err := exec.Command(program, all...).CombinedOutput()
		if err != nil {
			t.Fatalf("dig %v: %v\n%s", all, err, out)
		}
		return string(out)
	}
	out := dig("+nsid", "+cookie=2464c4abcf10c957", "+subnet=192.0.2.0/24", "www.example.com", "A")
	for _, want := range []string{"status: NOERROR", "(good)", `("tokyo-1")`, "CLIENT-SUBNET: 192.0.2.0/24/0", "udp: 4096"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	_, cookie, _ := strings.Cut(out, "COOKIE: ")
	cookie, _, _ = strings.Cut(cookie, " ")
	if out := dig("+cookie="+cookie, "+ignore", "+bufsize=4096", "big.example.com", "A"); !strings.Contains(out, "ANSWER: 200") || !strings.Contains(out, cookie+" (good)") {
		t.Errorf("with a good cookie:\n%s", out)
	}
	if out := dig("+nocookie", "+ignore", "+bufsize=4096", "big.example.com", "A"); !strings.Contains(out, "flags: qr aa tc") {
		t.Errorf("without a cookie:\n%s", out)
	}
	for _, option := range []string{"+subnet=0", "+keepalive", "+padding=64", "+ednsopt=65001:00ff"} {
		if out := dig("+tcp", option, "www.example.com", "A"); !strings.Contains(out, "status: NOERROR") || strings.Contains(out, "WARNING") {
			t.Errorf("%s:\n%s", option, out)
		}
	}
	if out := dig("+short", "version.bind", "TXT", "CH"); out != "\"gslbd test\"\n" {
		t.Errorf("version.bind: %s", out)
	}
}
