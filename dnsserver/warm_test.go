package dnsserver

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

// Warming a batch allocates nothing, whatever the batch holds, and leaves the answers as they are.
func TestWarm(t *testing.T) {
	r, _ := newTestResponder(t, testZone(t))
	var packets [][]byte
	for _, name := range []string{"plain", "steered-1", "steered-4", "cname-1", "nowhere", "a.b.c.nowhere"} {
		packets = append(packets, kind{ask: name + inZone, qtype: dns.TypeA}.packet(t))
	}
	packets = append(packets, kind{ask: "elsewhere.test.", qtype: dns.TypeA}.packet(t), nil, []byte{1}, make([]byte, 12), make([]byte, 17))
	client := netip.MustParseAddrPort("192.0.2.1:53")
	before := make([][]byte, len(packets))
	for i, p := range packets {
		before[i] = r.Respond(nil, p, client, UDP)
	}
	r.Respond(nil, packets[0], client, UDP) // so that its zone was the last
	query := func(i int) []byte { return packets[i%len(packets)] }
	for _, n := range []int{0, 1, len(packets), 64, 100} {
		if allocs := testing.AllocsPerRun(100, func() { r.Warm(n, query) }); allocs != 0 {
			t.Errorf("%d queries: %v allocations", n, allocs)
		}
	}
	for i, p := range packets {
		if after := r.Respond(nil, p, client, UDP); len(after) != len(before[i]) || len(p) > 0 && fmt.Sprint(after[:min(4, len(after))]) != fmt.Sprint(before[i][:min(4, len(after))]) {
			t.Errorf("query %d: %x, before %x", i, after, before[i])
		}
	}
}
