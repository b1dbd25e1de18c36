package dnsserver

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// BenchmarkFlood asks what nobody asked before, beside names that exist: 10,000 packets of each kind in turn.
func BenchmarkFlood(b *testing.B) {
	r, _ := newTestResponder(b, map[string]string{"gslb.example.com.": benchZone})
	dst := make([]byte, 0, 1232)
	label := func() string { return fmt.Sprintf("%x.", rand.Uint64()) }
	a := newAttacker(b, 1)
	for _, c := range []struct {
		name string
		ask  func() string
	}{
		{"hit", func() string { return fmt.Sprintf("host-%d.", 1+rand.IntN(10000)) }},
		{"random-label", label},
		{"random-below-name", func() string { return label() + fmt.Sprintf("host-%d.", 1+rand.IntN(10000)) }},
		{"random-below-wildcard", func() string { return label() + "wild." }},
		{"deep", func() string { return label() + label() + label() + label() + label() }},
		{"labels-120", func() string { return strings.Repeat("a.", 117) }},
		{"hostile", nil},
	} {
		packets := make([][]byte, 10_000)
		for i := range packets {
			if c.ask == nil {
				packets[i] = a.packet()
			} else {
				packets[i] = kind{ask: c.ask() + "gslb.example.com.", qtype: dns.TypeA, edns: true}.packet(b)
			}
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.Respond(dst, packets[i%len(packets)], netip.AddrPort{}, UDP)
			}
		})
	}
}
