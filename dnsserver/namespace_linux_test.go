package dnsserver

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// inside is set in a test process that has a network of its own.
const inside = "GSLBD_TEST_NAMESPACE"

// ownNetwork runs the calling test again in a network of its own, where it may add and remove addresses, and reports whether this is
// there. The copy's verdict is the test's.
func ownNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) != "" {
		return true
	}
	haveIPv6(t)
	if _, err := exec.LookPath("ip"); err != nil {
		skip(t, "no ip: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if os.Geteuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("ip", "link", "set", "lo", "up"); err != nil {
		skip(t, "no network namespaces: %v\n%s", err, out)
	}
	if out, err := run(self, "-test.run=^"+t.Name()+"$", "-test.v"); err != nil || !strings.Contains(out, "--- PASS: "+t.Name()) {
		t.Errorf("in a network of its own: %v\n%s", err, out)
	}
	return false
}

// ip changes the network of the test.
func ip(t *testing.T, args string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", args, err, out)
	}
}

// addAddresses puts addresses on two interfaces and gives them all, with what the loopback has anyway.
func addAddresses(t *testing.T) (list []netip.Addr) {
	t.Helper()
	ip(t, "link set lo up")
	ip(t, "link add left type veth peer name right")
	ip(t, "link set left up")
	ip(t, "link set right up")
	for addr, device := range map[string]string{"192.0.2.1/32": "lo", "198.51.100.7/24": "left", "2001:db8::1/128": "lo", "2001:db8::2/128": "lo", "2001:db8:5::1/64": "left", "fd00::9/64": "left"} {
		list = append(list, addAddress(t, netip.MustParsePrefix(addr), device))
	}
	for _, addr := range []string{"127.0.0.1", "127.0.0.5", "127.255.0.9", "::1"} {
		list = append(list, netip.MustParseAddr(addr))
	}
	return list
}

// addAddress puts an address on an interface and returns it when it can be used.
func addAddress(t *testing.T, prefix netip.Prefix, device string) netip.Addr {
	t.Helper()
	if prefix.Addr().Is6() {
		device += " nodad"
	}
	ip(t, "address add "+prefix.String()+" dev "+device)
	eventually(t, prefix.String()+" is ready", func() bool { return reachesItself(prefix.Addr()) })
	return prefix.Addr()
}

// reachesItself reports whether a datagram from an address to itself arrives.
func reachesItself(addr netip.Addr) bool {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = conn.WriteTo([]byte{1}, conn.LocalAddr())
	_, err = conn.Read(make([]byte, 1))
	return err == nil
}

// Each of many addresses, of two interfaces and both families, is answered from itself, also to a client that has another address.
func TestWildcardOfManyAddresses(t *testing.T) {
	if !ownNetwork(t) {
		return
	}
	addresses := addAddresses(t)
	same := func(a, b netip.Addr) bool { return a.Is4() == b.Is4() }
	servers(t, ":0", echo, func(t *testing.T, bound netip.AddrPort, _ func() Counts) {
		for i, from := range addresses {
			if !same(from, bound.Addr()) {
				continue
			}
			client, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)))
			if err != nil {
				t.Fatal(err)
			}
			_ = client.SetDeadline(time.Now().Add(patience))
			for j, asked := range addresses {
				if !same(asked, bound.Addr()) || from.IsLoopback() != asked.IsLoopback() {
					continue
				}
				id, to := uint16(i<<8|j), netip.AddrPortFrom(asked, bound.Port())
				if _, err := client.WriteToUDPAddrPort(query(id, 50), to); err != nil {
					t.Fatalf("%v asks %v: %v", from, to, err)
				}
				reply := make([]byte, 100)
				n, source, err := client.ReadFromUDPAddrPort(reply)
				source = netip.AddrPortFrom(source.Addr().Unmap(), source.Port())
				if err != nil || !isEcho(reply[:n], id, 50) || source != to {
					t.Errorf("%v asked %v, answered from %v: %x %v", from, to, source, reply[:n], err)
				}
			}
			_ = client.Close()
		}
	})
	s := start(t, Options{Listen: []string{":0"}}, echo)
	for _, asked := range addresses {
		to := netip.AddrPortFrom(asked, s.Addrs()[0].Port())
		askTCP(t, dial(t, "tcp", to), 1, 50)
		ask(t, dial(t, "udp", to), 1, 50) // a connected socket, which takes answers from there alone
	}
}

// An address that leaves the machine stands in the way of no change, and is served again when it comes back.
func TestAddressLeavesTheMachine(t *testing.T) {
	if !ownNetwork(t) {
		return
	}
	addAddresses(t)
	for _, addr := range []string{"192.0.2.1", "2001:db8::1"} {
		at := netip.AddrPortFrom(netip.MustParseAddr(addr), 5399)
		s := start(t, Options{Listen: []string{at.String(), "127.0.0.1:5399"}, Workers: 2}, echo)
		home := netip.MustParseAddrPort("127.0.0.1:5399")
		ask(t, dial(t, "udp", at), 1, 30)
		before := inodes(t, s, at.String())
		prefix := netip.PrefixFrom(at.Addr(), at.Addr().BitLen())
		ip(t, "address del "+prefix.String()+" dev lo")
		relisten(t, s, "127.0.0.1:5399", at.String(), "127.0.0.2:5399") // it stays
		ask(t, dial(t, "udp", home), 1, 30)
		askTCP(t, dial(t, "tcp", home), 1, 30)
		addAddress(t, prefix, "lo")
		ask(t, dial(t, "udp", at), 1, 30)
		askTCP(t, dial(t, "tcp", at), 1, 30)
		if !slices.Equal(inodes(t, s, at.String()), before) {
			t.Errorf("%v was bound again", at)
		}
		ip(t, "address del "+prefix.String()+" dev lo")
		relisten(t, s, "127.0.0.1:5399") // it goes
		ask(t, dial(t, "udp", home), 1, 30)
		if commit, err := s.Listen([]string{"127.0.0.1:5399", at.String()}); commit != nil || !strings.Contains(err.Error(), "cannot assign requested address") {
			t.Errorf("%v is not there, and yet: %v", at, err)
		}
		addAddress(t, prefix, "lo")
		relisten(t, s, "127.0.0.1:5399", at.String())
		ask(t, dial(t, "udp", at), 1, 30)
		stop(t, s)
	}
}

// Sockets that fail are reported with their address; other addresses answer on, and taking the address out and in again mends it.
func TestFailedListenerIsAlone(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	bad, good := free(t, "127.0.0.64"), free(t, "127.0.0.65")
	s := start(t, Options{Listen: []string{bad, good}, Workers: 1, Log: zap.New(core)}, echo)
	breakSocket(t, s.listeners[0].workers[0])
	_ = s.listeners[0].tcp.Listener.Close()
	for _, message := range []string{"udp receive failed", "tcp listener failed"} {
		eventually(t, message, func() bool {
			found := logs.FilterMessage(message).All()
			return len(found) == 1 && found[0].ContextMap()["address"] == bad
		})
	}
	ask(t, dial(t, "udp", netip.MustParseAddrPort(good)), 1, 30)
	askTCP(t, dial(t, "tcp", netip.MustParseAddrPort(good)), 1, 30)
	relisten(t, s, good)
	relisten(t, s, good, bad)
	ask(t, dial(t, "udp", netip.MustParseAddrPort(bad)), 1, 30)
	askTCP(t, dial(t, "tcp", netip.MustParseAddrPort(bad)), 1, 30)
	if logs.Len() != 2 {
		t.Errorf("logged %v", logs.All())
	}
}
