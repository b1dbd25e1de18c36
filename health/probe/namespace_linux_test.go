package probe

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
)

// namespace gives a child process a network of its own, with loopback down.
func namespace() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// isolated runs the test in such a process, with loopback up.
func isolated(t *testing.T) bool {
	t.Helper()
	if !child(t, namespace()) {
		return false
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		skip(t, err, string(out))
	}
	return true
}

func TestICMP(t *testing.T) {
	if !isolated(t) {
		return
	}
	for _, c := range []struct {
		addr   string
		opts   ICMP
		source string
	}{
		{"127.0.0.1", ICMP{1, 24}, ""},
		{"127.1.2.3", ICMP{3, 24}, ""},
		{"127.0.0.1", ICMP{10, 1400}, ""},
		{"127.0.0.1", ICMP{1, 24}, "127.4.5.6"},
		{"::1", ICMP{1, 56}, ""},
		{"::1", ICMP{1, 24}, "::1"},
	} {
		addr := netip.MustParseAddr(c.addr)
		if addr.Is6() && noIPv6() {
			continue
		}
		check := pingCheck()
		check.ICMP = &c.opts
		if c.source != "" {
			check.Source = []netip.Addr{netip.MustParseAddr(c.source)}
		}
		want(t, run(t, check, Target{Addr: addr, Port: 80}), Pass, "")
	}
}

func TestICMPTrace(t *testing.T) {
	if !isolated(t) {
		return
	}
	p, err := New(pingCheck(), Target{Addr: local}, true)
	if err != nil {
		t.Fatal(err)
	}
	r := Round(context.Background(), p, pingCheck())
	want(t, r, Pass, "")
	if len(r.Steps) != 2 || r.Steps[0].What != "socket" || r.Steps[1].What != "reply" ||
		!strings.HasPrefix(r.Steps[1].Info, "from 127.0.0.1 in ") {
		t.Errorf("steps %v", r.Steps)
	}
}

// In a network namespace of its own every route can be had without sending a
// packet anywhere.
func TestRoutes(t *testing.T) {
	if !child(t, namespace()) {
		return
	}
	ip := func(args ...string) {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			skip(t, args, err, string(out))
		}
	}
	probeAll := func(addr string, outcome Outcome, what string) {
		t.Helper()
		to := Target{Addr: netip.MustParseAddr(addr), Port: 80}
		want(t, run(t, tcpCheck(long, TCP{}), to), outcome, "connect: "+what)
		want(t, run(t, udpCheck(long, UDP{}), to), outcome, "connect: "+what)
	}
	nowhere := run(t, tcpCheck(long, TCP{}), Target{Addr: netip.MustParseAddr("192.0.2.1"), Port: 80})
	want(t, nowhere, Fault, "no IPv4 route from this machine")
	nowhere = run(t, udpCheck(long, UDP{}), Target{Addr: netip.MustParseAddr("192.0.2.1"), Port: 80})
	want(t, nowhere, Fault, "no IPv4 route from this machine")
	ping := Check{Type: "icmp", Timeout: long, ICMP: &ICMP{Count: 1, Size: 24}}
	noRoute := run(t, ping, Target{Addr: netip.MustParseAddr("192.0.2.1")})
	want(t, noRoute, Fault, "no IPv4 route from this machine")

	ip("link", "set", "lo", "up")
	ip("route", "add", "prohibit", "192.0.2.1")
	ip("route", "add", "unreachable", "192.0.2.2")
	probeAll("192.0.2.1", Fault, "permission denied (a local firewall or route forbids it)")
	probeAll("192.0.2.2", Fail, "no route to host")
	forbidden := run(t, ping, Target{Addr: netip.MustParseAddr("192.0.2.1")})
	want(t, forbidden, Fault, "icmp: permission denied (a local firewall or route forbids it)")
	unreachable := run(t, ping, Target{Addr: netip.MustParseAddr("192.0.2.2")})
	want(t, unreachable, Fail, "icmp: no route to host")
	testPingKinds(t, ping)
}

// testPingKinds runs where echo replies and permissions can be switched off.
func testPingKinds(t *testing.T, ping Check) {
	set := func(name, value string) {
		if err := os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0); err != nil {
			skip(t, err)
		}
	}
	kind := func(want string) Result {
		p, err := New(ping, Target{Addr: local}, true)
		if err != nil {
			t.Fatal(err)
		}
		r := Round(context.Background(), p, ping)
		if len(r.Steps) == 0 || r.Steps[0].Info != want {
			t.Errorf("steps %v, want socket %s", r.Steps, want)
		}
		return r
	}
	want(t, kind("raw"), Pass, "") // a new namespace lets no group ping
	set("ping_group_range", "0 0")
	want(t, kind("unprivileged"), Pass, "")
	set("icmp_echo_ignore_all", "1")
	ping.Timeout, ping.ICMP.Count = short, 3
	want(t, kind("unprivileged"), Fail, "no reply in 80ms")
}

// Replies to other pings, and forged ones, are not ours.
func TestICMPOtherID(t *testing.T) {
	if !isolated(t) {
		return
	}
	testForeignReplies(t)
}

// testForeignReplies answers echo requests by hand in a namespace where the
// kernel does not.
func testForeignReplies(t *testing.T) {
	if err := os.WriteFile("/proc/sys/net/ipv4/icmp_echo_ignore_all", []byte("1"), 0); err != nil {
		skip(t, err)
	}
	for _, c := range []struct {
		about   string
		forge   func(*icmp.Echo)
		timeout time.Duration
		outcome Outcome
		reason  string
	}{
		{"another id", func(e *icmp.Echo) { e.ID ^= 1 }, short, Fail, "no reply in 80ms"},
		{"another payload", func(e *icmp.Echo) { e.Data[10] ^= 1 }, short, Fail, "no reply in 80ms"},
		{"another sequence", func(e *icmp.Echo) { e.Seq += 7 }, short, Fail, "no reply in 80ms"},
		{"a short payload", func(e *icmp.Echo) { e.Data = e.Data[:3] }, short, Fail, "no reply in 80ms"},
		{"the right reply", func(*icmp.Echo) {}, long, Pass, ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			answerPings(t, c.forge)
			check := pingCheck()
			check.Timeout = c.timeout
			want(t, run(t, check, Target{Addr: local}), c.outcome, c.reason)
		})
	}
}

func answerPings(t *testing.T, forge func(*icmp.Echo)) {
	conn, err := icmp.ListenPacket("ip4:icmp", "127.0.0.1")
	if err != nil {
		skip(t, err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			m, err := icmp.ParseMessage(1, buf[:n])
			if err != nil || m.Type != ipv4.ICMPTypeEcho {
				continue
			}
			m.Type = ipv4.ICMPTypeEchoReply
			forge(m.Body.(*icmp.Echo))
			if out, err := m.Marshal(nil); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
}
