package dnsserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestParseListen(t *testing.T) {
	for _, c := range []struct {
		listen string // comma-separated
		want   string // endpoints, or an error
	}{
		{"127.0.0.1:5353", "127.0.0.1:5353"},
		{"127.0.0.1:5353,[::1]:5353", "127.0.0.1:5353 [::1]:5353"},
		{":53", "0.0.0.0:53 [::]:53"},
		{"0.0.0.0:53,[::]:53", "0.0.0.0:53 [::]:53"},
		{"[::ffff:192.0.2.1]:53", "192.0.2.1:53"},
		{"[fe80::1%eth0]:53", "[fe80::1%eth0]:53"},
		{"127.0.0.1:0,127.0.0.1:0", "127.0.0.1:0 127.0.0.1:0"},
		{"127.0.0.1:53,127.0.0.1:54", "127.0.0.1:53 127.0.0.1:54"},
		{"", "listen: no address to listen on\n  hint: set listen, for example [ \"127.0.0.1:5353\", \"[::1]:5353\" ]"},
		{"127.0.0.1", `listen "127.0.0.1": the port is missing` + "\n  hint: write 127.0.0.1:53"},
		{"::1", `listen "::1": the port is missing` + "\n  hint: write [::1]:53"},
		{"fish", `listen "fish": not an address and port` + "\n  hint: write \"192.0.2.1:53\", \"[2001:db8::1]:53\", or \":53\" for every address"},
		{"127.0.0.1:domain", `listen "127.0.0.1:domain": port "domain" is not a number from 0 to 65535` + "\n  hint: the usual port is 53"},
		{"127.0.0.1:65536", `listen "127.0.0.1:65536": port "65536" is not a number from 0 to 65535` + "\n  hint: the usual port is 53"},
		{"localhost:53", `listen "localhost:53": "localhost" is not an IP address` + "\n  hint: names are not looked up here: write the address"},
		{"127.0.0.1:53,127.0.0.1:53", `listen "127.0.0.1:53": overlaps with "127.0.0.1:53"` + "\n  hint: keep one of the two"},
		{":53,127.0.0.1:53", `listen "127.0.0.1:53": overlaps with ":53"` + "\n  hint: keep one of the two"},
		{"[::1]:53,:53", `listen ":53": overlaps with "[::1]:53"` + "\n  hint: keep one of the two"},
		{"0.0.0.0:53,:53", `listen ":53": overlaps with "0.0.0.0:53"` + "\n  hint: keep one of the two"},
	} {
		var listen []string
		if c.listen != "" {
			listen = strings.Split(c.listen, ",")
		}
		groups, err := parseListen(listen)
		var got []string
		for _, g := range groups {
			for _, e := range g {
				got = append(got, e.addr.String())
			}
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.listen, text, c.want)
		}
		if check := CheckListen(listen); fmt.Sprint(check) != fmt.Sprint(err) {
			t.Errorf("%s: CheckListen says %v", c.listen, check)
		}
		if err != nil { // Start says the same, and binds nothing
			if failed := New(Options{Listen: listen}).Start(); fmt.Sprint(failed) != err.Error() {
				t.Errorf("%s: Start says %v", c.listen, failed)
			}
		}
	}
}

// inUse starts a server that must fail with want for its second address, and proves that the first one was given back.
func inUse(t *testing.T, addr netip.AddrPort, want string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	first := free.Addr().String()
	_ = free.Close()
	err = newServer(Options{Listen: []string{first, addr.String()}, Workers: 2}, echo).Start()
	if fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("%v does not wrap EADDRINUSE", err)
	}
	again := newServer(Options{Listen: []string{first}}, echo)
	if err := again.Start(); err != nil {
		t.Errorf("the first address is still bound: %v", err)
	}
	stop(t, again)
}

func TestPortInUse(t *testing.T) {
	t.Run("by a second server", func(t *testing.T) {
		addr := start(t, Options{Listen: []string{"127.0.0.1:0"}, Workers: 2}, echo).Addrs()[0]
		inUse(t, addr, fmt.Sprintf("listen tcp \"%v\": address already in use\n  hint: `ss -ltnp 'sport = :%d'` shows which process has the port; stop it, or listen on another address or port", addr, addr.Port()))
	})
	t.Run("udp, by sockets that would share it", func(t *testing.T) {
		s := newServer(Options{Listen: []string{"127.0.0.1:0"}}, echo)
		// An address of its own: connections that others make from 127.0.0.1 may hold the port for TCP.
		conn, err := s.bindUDP("udp4", netip.MustParseAddrPort("127.0.0.77:0"), false)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		addr := conn.LocalAddr().(*net.UDPAddr).AddrPort()
		inUse(t, addr, fmt.Sprintf("listen udp \"%v\": address already in use\n  hint: `ss -lunp 'sport = :%d'` shows which process has the port; stop it, or listen on another address or port", addr, addr.Port()))
	})
}

func TestAddressNotHere(t *testing.T) {
	err := New(Options{Listen: []string{"192.0.2.1:0"}}).Start()
	want := "listen tcp \"192.0.2.1:0\": cannot assign requested address\n  hint: this machine does not have the address (`ip address` lists those it has); correct it, or add it to an interface first"
	if fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	err = New(Options{Listen: []string{"[fe80::1%nosuchif]:0"}}).Start()
	if !strings.Contains(fmt.Sprint(err), "hint: ") {
		t.Errorf("no hint: %v", err)
	}
}

// failing makes every socket of the named networks fail to open.
func failing(s *Server, errno syscall.Errno, networks ...string) {
	s.control = func(network, _ string, _ syscall.RawConn) error {
		for _, n := range networks {
			if n == network {
				return os.NewSyscallError("socket", errno)
			}
		}
		return nil
	}
}

func TestBindErrors(t *testing.T) {
	for _, c := range []struct {
		listen  string
		errno   syscall.Errno
		network string
		want    string
	}{
		{"127.0.0.1:53", syscall.EACCES, "tcp4", "listen tcp \"127.0.0.1:53\": permission denied\n  hint: ports below 1024 need CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE), or choose a higher port"},
		{"[::1]:0", syscall.EAFNOSUPPORT, "tcp6", "listen tcp \"[::1]:0\": address family not supported by protocol\n  hint: this machine has no IPv6; remove the address from listen, or enable IPv6 in the kernel"},
		{"127.0.0.1:0", syscall.EAFNOSUPPORT, "tcp4", "listen tcp \"127.0.0.1:0\": address family not supported by protocol\n  hint: this machine has no IPv4; remove the address from listen, or enable IPv4 in the kernel"},
		{"127.0.0.1:53", syscall.EMFILE, "tcp4", "listen tcp \"127.0.0.1:53\": too many open files\n  hint: raise the limit of open files (systemd: LimitNOFILE=)"},
		{":53", syscall.EACCES, "tcp4", "listen tcp \":53\": 0.0.0.0:53: permission denied\n  hint: ports below 1024 need CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE), or choose a higher port"},
		{"127.0.0.1:53", syscall.ENOMEM, "tcp4", "listen tcp \"127.0.0.1:53\": cannot allocate memory"},
	} {
		s := newServer(Options{Listen: []string{c.listen}}, echo)
		failing(s, c.errno, c.network)
		if err := s.Start(); fmt.Sprint(err) != c.want {
			t.Errorf("%s %v:\n got %v\nwant %s", c.listen, c.errno, err, c.want)
		}
		if len(s.Addrs()) != 0 {
			t.Errorf("%s %v: left bound: %v", c.listen, c.errno, s.Addrs())
		}
	}
}

// "Every address" on a machine with one family means every address of that one.
func TestWildcardWithoutIPv6(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	s := newServer(Options{Listen: []string{":0"}, Log: zap.New(core)}, echo)
	failing(s, syscall.EAFNOSUPPORT, "tcp6", "udp6")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	if a := s.Addrs(); len(a) != 1 || a[0].Addr() != netip.IPv4Unspecified() {
		t.Errorf("Addrs: %v", a)
	}
	if logs.FilterMessage("address family missing, not served").Len() != 1 {
		t.Errorf("logged %v", logs.All())
	}
	neither := newServer(Options{Listen: []string{":0"}}, echo)
	failing(neither, syscall.EAFNOSUPPORT, "tcp4", "udp4", "tcp6", "udp6")
	if err := neither.Start(); !errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Errorf("no family at all: %v", err)
	}
}

// Port 0 goes on to another port when the one that TCP got is taken for UDP, a fixed port does not.
func TestPortZeroTriesAgain(t *testing.T) {
	left := 3
	s := newServer(Options{Listen: []string{"127.0.0.1:0"}}, echo)
	s.control = func(network, _ string, _ syscall.RawConn) error {
		if network == "udp4" && left > 0 {
			left--
			return os.NewSyscallError("bind", syscall.EADDRINUSE)
		}
		return nil
	}
	if err := s.Start(); err != nil || left != 0 {
		t.Fatalf("Start: %v, %d tries left", err, left)
	}
	defer stop(t, s)
	never := newServer(Options{Listen: []string{"127.0.0.1:0"}}, echo)
	failing(never, syscall.EADDRINUSE, "udp4")
	if err := never.Start(); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("no port at all: %v", err)
	}
}

// All addresses of ":0" have one port, for UDP and TCP.
func TestWildcardHasOnePort(t *testing.T) {
	haveIPv6(t)
	s := start(t, Options{Listen: []string{":0"}}, echo)
	a := s.Addrs()
	if len(a) != 2 || a[0].Port() != a[1].Port() {
		t.Fatalf("Addrs: %v", a)
	}
	for _, ip := range []string{"127.0.0.1", "::1"} {
		at := netip.AddrPortFrom(netip.MustParseAddr(ip), a[0].Port())
		ask(t, dial(t, "udp", at), 1, 20)
		askTCP(t, dial(t, "tcp", at), 1, 20)
	}
}
