package dnsserver

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// servers starts a server of each kind: with batches (where the system has them), and with the plain loop that other systems use.
func servers(t *testing.T, listen string, respond respondFunc, test func(t *testing.T, addr netip.AddrPort, counts func() Counts)) {
	t.Run("native", func(t *testing.T) {
		s := start(t, Options{Listen: []string{listen}}, respond)
		for _, addr := range s.Addrs() {
			test(t, addr, func() Counts { return s.Stats().UDP })
		}
	})
	t.Run("plain", func(t *testing.T) {
		s := newServer(Options{Listen: []string{listen}, Workers: 1}, respond)
		groups, err := parseListen(s.opts.Listen)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range groups[0] {
			network := map[bool]string{true: "udp4", false: "udp6"}[e.addr.Addr().Is4()]
			conn, err := s.bindUDP(network, e.addr, false)
			if err != nil {
				t.Fatal(err)
			}
			addr := conn.LocalAddr().(*net.UDPAddr).AddrPort()
			u := newPlainUDP(conn, addr, s)
			var running sync.WaitGroup
			running.Go(u.run)
			test(t, addr, func() (c Counts) { u.counters.addTo(&c); return c })
			u.stop()
			running.Wait()
		}
	})
}

func TestUDPSizes(t *testing.T) {
	servers(t, "127.0.0.1:0", echo, func(t *testing.T, addr netip.AddrPort, counts func() Counts) {
		conn := dial(t, "udp", addr)
		for i, size := range []int{12, 13, 512, 1472, 1473, 2000, querySize} {
			ask(t, conn, uint16(i), size)
		}
		for _, size := range []int{0, 1, 11, querySize + 1, 20000} { // no answer
			if _, err := conn.Write(query(99, max(size, 2))[:size]); err != nil {
				t.Fatal(err)
			}
		}
		reply := query(98, 20)
		reply[2] = 0x80
		_, _ = conn.Write(reply)
		ask(t, conn, 100, 30)
		want := Counts{Received: 14, Answered: 8, Dropped: 6}
		eventually(t, "counted", func() bool { return counts() == want })
	})
}

// A wildcard listener must answer from the address it was asked at, or resolvers throw the answer away.
func TestWildcardAnswersFromTheAddressAsked(t *testing.T) {
	haveIPv6(t)
	servers(t, ":0", echo, func(t *testing.T, addr netip.AddrPort, _ func() Counts) {
		asked := []string{"127.0.0.1", "127.0.0.2", "127.9.8.7"}
		local := "127.0.0.1:0"
		if addr.Addr().Is6() {
			asked, local = []string{"::1"}, "[::1]:0"
		}
		client, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(local)))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		_ = client.SetDeadline(time.Now().Add(patience))
		for range 3 { // buffers are used again
			for i, a := range asked {
				to := netip.AddrPortFrom(netip.MustParseAddr(a), addr.Port())
				if _, err := client.WriteToUDPAddrPort(query(uint16(i), 50), to); err != nil {
					t.Fatal(err)
				}
				reply := make([]byte, 100)
				n, from, err := client.ReadFromUDPAddrPort(reply)
				if err != nil || !isEcho(reply[:n], uint16(i), 50) {
					t.Fatalf("asked at %v: %x %v", to, reply[:n], err)
				}
				if from := netip.AddrPortFrom(from.Addr().Unmap(), from.Port()); from != to {
					t.Errorf("asked at %v, answered from %v", to, from)
				}
			}
		}
	})
}

// Many clients at once, each with a window of queries under way: every answer comes, to whom asked, once.
func TestUDPManyClients(t *testing.T) {
	const clients, rounds, window = 40, 40, 8
	servers(t, "127.0.0.1:0", echo, func(t *testing.T, addr netip.AddrPort, counts func() Counts) {
		var all sync.WaitGroup
		for c := range clients {
			conn := dial(t, "udp", addr)
			all.Go(func() {
				buffer := make([]byte, 1000)
				for round := range rounds {
					var open [window]bool
					for i := range window {
						open[i] = true
						if _, err := conn.Write(query(uint16(round*window+i), 20+c)); err != nil {
							t.Error(err)
							return
						}
					}
					for range window {
						n, err := conn.Read(buffer)
						if err != nil {
							t.Errorf("client %d round %d: %v", c, round, err)
							return
						}
						id := int(buffer[0])<<8 | int(buffer[1])
						i := id - round*window
						if i < 0 || i >= window || !open[i] || !isEcho(buffer[:n], uint16(id), 20+c) {
							t.Errorf("client %d: unexpected answer %x", c, buffer[:n])
							return
						}
						open[i] = false
					}
				}
			})
		}
		all.Wait()
		want := uint64(clients * rounds * window)
		eventually(t, "counted", func() bool { return counts() == Counts{Received: want, Answered: want} })
	})
}

// An answer that the kernel refuses is lost alone.
func TestUDPSendErrors(t *testing.T) {
	respond := func(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
		if packet[1]%3 == 0 {
			return make([]byte, 70000) // EMSGSIZE
		}
		return echo(dst, packet, client, transport)
	}
	servers(t, "127.0.0.1:0", respond, func(t *testing.T, addr netip.AddrPort, counts func() Counts) {
		conn := dial(t, "udp", addr)
		for id := range uint16(10) {
			_, _ = conn.Write(query(id, 20))
		}
		for _, id := range []uint16{1, 2, 4, 5, 7, 8} {
			expect(t, conn, id, 20)
		}
		want := Counts{Received: 10, Answered: 6, SendErrors: 4}
		eventually(t, "counted", func() bool { return counts() == want })
	})
}
