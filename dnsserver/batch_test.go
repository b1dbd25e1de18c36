package dnsserver

import (
	"bytes"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"weak"

	"github.com/miekg/dns"

	"gslbd/dnsserver/answer"
)

// Queries that are read together get the answers that each gets alone, whatever else is in the batch, and nothing is allocated.
func TestBatchAnswersAsEachAlone(t *testing.T) {
	r, _ := newTestResponder(t, testZone(t))
	r.InBatches(answer.MaxBatch)
	var packets [][]byte
	for _, name := range []string{"plain", "steered-1", "cname-1", "nowhere", "a.b.c.nowhere"} {
		packets = append(packets, kind{ask: name + inZone, qtype: dns.TypeA}.packet(t))
	}
	packets = append(packets, kind{ask: "elsewhere.test.", qtype: dns.TypeA}.packet(t), nil, []byte{1}, make([]byte, 12), make([]byte, 17))
	client := netip.MustParseAddrPort("192.0.2.1:53")
	alone := make([][]byte, len(packets))
	for i, p := range packets {
		alone[i] = r.Respond(nil, p, client, UDP)
	}
	query := func(i int) []byte { return packets[i%len(packets)] }
	space := make([]byte, 0, maxUDP)
	for _, n := range []int{0, 1, 2, 3, 4, len(packets), answer.MaxBatch} {
		allocs := testing.AllocsPerRun(100, func() {
			for i := range n {
				r.Read(i, query(i))
			}
			r.Find(n)
			for i := n - 1; i >= 0; i-- { // any order
				if got := r.Answer(i, space, client, UDP); !bytes.Equal(got, alone[i%len(packets)]) {
					t.Fatalf("number %d of %d: %x, alone %x", i, n, got, alone[i%len(packets)])
				}
			}
		})
		if allocs != 0 {
			t.Errorf("%d queries: %v allocations", n, allocs)
		}
	}
}

// A batch is answered from one table, and the next from the one that is there by then.
func TestBatchAnswersFromOneTable(t *testing.T) {
	r, _ := newTestResponder(t, testZone(t))
	r.InBatches(8)
	packet := kind{ask: "plain" + inZone, qtype: dns.TypeA}.packet(t)
	full := r.table.Load()
	for _, c := range []struct {
		before, after *answer.Table // of the reading
		rcode         int
	}{
		{full, answer.NewTable(), dns.RcodeSuccess},
		{answer.NewTable(), full, dns.RcodeRefused},
		{nil, full, dns.RcodeRefused},
		{full, nil, dns.RcodeSuccess},
	} {
		r.table.Store(c.before)
		for i := range 8 {
			r.Read(i, packet)
		}
		r.Find(8)
		r.table.Store(c.after)
		for i := range 8 {
			m := new(dns.Msg)
			if err := m.Unpack(r.Answer(i, nil, netip.AddrPort{}, UDP)); err != nil || m.Rcode != c.rcode {
				t.Errorf("number %d: %v %v, want rcode %d", i, err, m, c.rcode)
			}
		}
	}
}

// Counts come with the reply to a single packet, and with Count for a batch.
func TestBatchCounts(t *testing.T) {
	r, counts := newTestResponder(t, testZone(t))
	r.InBatches(8)
	packet := kind{ask: "nowhere" + inZone, qtype: dns.TypeA}.packet(t)
	outcomes := func() (o Outcomes) { counts.AddTo(&o); return o }
	r.Respond(nil, packet, netip.AddrPort{}, UDP)
	if got := outcomes(); got != (Outcomes{NXDomain: 1}) {
		t.Errorf("after one: %+v", got)
	}
	for i := range 8 {
		r.Read(i, [][]byte{packet, packet[:12], packet[:5]}[i%3])
	}
	r.Find(8)
	for i := range 8 {
		r.Answer(i, nil, netip.AddrPort{}, UDP)
	}
	for range 2 { // the second has nothing to tell
		r.Count()
		if got := outcomes(); got != (Outcomes{NXDomain: 4, FormErr: 3, Dropped: 2}) {
			t.Errorf("after a batch: %+v", got)
		}
	}
}

// Packets are let go of with Rest, whatever of them an answer used: those that come over TCP may be long.
func TestRestForgetsPackets(t *testing.T) {
	r, _ := newTestResponder(t, testZone(t))
	r.InBatches(8)
	m := new(dns.Msg).SetQuestion("plain"+inZone, dns.TypeA)
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"},
		&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: 24, Address: net.IPv4(192, 0, 2, 0)}}
	var packets []weak.Pointer[byte]
	for i := range 8 {
		packet, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		packet = append(make([]byte, 0, 1<<16), packet[:len(packet)-i%2]...) // some are cut
		packets = append(packets, weak.Make(&packet[0]))
		r.Read(i, packet)
	}
	r.Find(8)
	for i := range 8 {
		r.Answer(i, nil, netip.AddrPort{}, TCP)
	}
	r.Rest()
	runtime.GC()
	for i, p := range packets {
		if p.Value() != nil {
			t.Errorf("packet %d is still there", i)
		}
	}
	runtime.KeepAlive(r)
}
