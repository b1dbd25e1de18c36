package dnsserver

import (
	"bytes"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver/answer"
)

func testZone(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{"gslb.example.com.": benchZone}
}

// TestRespondAppends checks that what dst holds stays, whether or not the reply fits its memory.
func TestRespondAppends(t *testing.T) {
	r, _ := newTestResponder(t, testZone(t))
	for _, k := range kindsOfAnswers() {
		packet := k.packet(t)
		want := len(r.Respond(nil, packet, netip.AddrPort{}, UDP))
		for _, free := range []int{0, 1, 11, 12, 40, want - 1, want, want + 1, 1232} {
			dst := append(make([]byte, 0, 6+free), "before"...)
			got := r.Respond(dst, packet, netip.AddrPort{}, UDP)
			if string(got[:6]) != "before" || len(got) != 6+want {
				t.Fatalf("%s with %d bytes free: %d bytes, want %d", k.name, free, len(got)-6, want)
			}
			var m dns.Msg
			if err := m.Unpack(got[6:]); err != nil || m.Rcode != k.rcode || len(m.Answer) != k.answers {
				t.Fatalf("%s with %d bytes free: %v %v", k.name, free, err, &m)
			}
			if free >= want && &got[0] != &dst[0] {
				t.Errorf("%s: moved, though %d bytes were free for %d", k.name, free, want)
			}
		}
	}
}

// TestNoReply checks that silence leaves dst as it is, and the packet too.
func TestNoReply(t *testing.T) {
	r, _ := newTestResponder(t, testZone(t))
	good := kindsOfAnswers()[0].packet(t)
	reply := r.Respond(nil, good, netip.AddrPort{}, UDP)
	for _, packet := range [][]byte{nil, {}, good[:1], good[:11], reply, make([]byte, 11), append([]byte{1, 2, 0x80}, make([]byte, 20)...)} {
		before := bytes.Clone(packet)
		if got := r.Respond([]byte("x"), packet, netip.AddrPort{}, UDP); string(got) != "x" {
			t.Errorf("reply %x to %x", got, packet)
		}
		if !bytes.Equal(packet, before) {
			t.Errorf("packet changed: %x, was %x", packet, before)
		}
	}
}

// TestSizeLimits asks for an answer of 2080 bytes and more, and for one whose size the client limits.
func TestSizeLimits(t *testing.T) {
	r, _ := newTestResponder(t, map[string]string{"size.": sizeZone()})
	for size, limit := range map[int]int{-1: 512, 0: 512, 511: 512, 512: 512, 513: 513, 1000: 1000, 1231: 1231, 1232: 1232, 1233: 1232, 65535: 1232} {
		fits := 0
		for n := 400; n <= 1300; n++ {
			m := new(dns.Msg)
			m.SetQuestion(dns.Fqdn("n"+string(rune('a'+n/100))+string(rune('a'+n/10%10))+string(rune('a'+n%10))+".size"), dns.TypeTXT)
			if size >= 0 {
				m.SetEdns0(uint16(size), false)
			}
			packet, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			reply := r.Respond(nil, packet, netip.AddrPort{}, UDP)
			whole := len(r.Respond(nil, packet, netip.AddrPort{}, TCP))
			truncated := reply[2]&2 != 0
			if len(reply) > limit || truncated != (whole > limit) || !truncated && len(reply) != whole {
				t.Fatalf("client takes %d: %d bytes, TC %v, for an answer of %d", size, len(reply), truncated, whole)
			}
			if truncated && len(reply) != len(packet) {
				t.Fatalf("TC with %d bytes for a query of %d", len(reply), len(packet))
			}
			if whole == limit {
				fits++
			}
		}
		if fits == 0 {
			t.Errorf("client takes %d: no answer was exactly %d", size, limit)
		}
	}
}

// sizeZone has TXT records of every size around the limits.
func sizeZone() string {
	var b bytes.Buffer
	b.WriteString("$ORIGIN size.\n$TTL 1\n@ SOA ns.other. h 1 1 1 1 1\n@ NS ns.other.\n")
	for n := 400; n <= 1300; n++ {
		b.WriteString("n" + string(rune('a'+n/100)) + string(rune('a'+n/10%10)) + string(rune('a'+n%10)) + " TXT")
		for left := n; left > 0; left -= 201 {
			b.WriteString(" " + string(bytes.Repeat([]byte("x"), min(left, 200))))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestCounts checks that each packet is counted as what it is.
func TestCounts(t *testing.T) {
	r, counts := newTestResponder(t, testZone(t))
	for _, k := range kindsOfAnswers() {
		r.Respond(nil, k.packet(t), netip.AddrPort{}, UDP)
	}
	good := kindsOfAnswers()[0].packet(t)
	r.Respond(nil, good[:12], netip.AddrPort{}, UDP)
	r.Respond(nil, nil, netip.AddrPort{}, UDP)
	status := bytes.Clone(good)
	status[2] |= 2 << 3
	r.Respond(nil, status, netip.AddrPort{}, UDP)
	m := new(dns.Msg).SetQuestion("gslb.example.com.", dns.TypeAXFR)
	axfr, _ := m.Pack()
	r.Respond(nil, axfr, netip.AddrPort{}, TCP)
	m.SetEdns0(1232, false).IsEdns0().SetVersion(3)
	version, _ := m.Pack()
	r.Respond(nil, version, netip.AddrPort{}, TCP)

	var got Outcomes
	counts.AddTo(&got)
	// Twice each: kindsOfAnswers asks with and without EDNS.
	want := Outcomes{Positive: 2 * 13, NoData: 2 * 2, NXDomain: 2 * 2, Referral: 2, Refused: 2 + 1, ServFail: 2, FormErr: 1, NotImp: 1, BadVers: 1, Dropped: 1, Truncated: 2}
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	counts.AddTo(&got)
	if got.Positive != 2*want.Positive {
		t.Error("AddTo does not add")
	}
}

// TestTableSwap swaps tables while several goroutines ask: every reply is right by one of them.
func TestTableSwap(t *testing.T) {
	r, counts := newTestResponder(t, testZone(t))
	full, empty := r.table.Load(), answer.NewTable()
	shared := new(atomic.Pointer[answer.Table])
	shared.Store(full)
	packet := kindsOfAnswers()[0].packet(t)
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			r := NewResponder(shared, counts)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if rcode := r.Respond(nil, packet, netip.AddrPort{}, UDP)[3] & 15; rcode != dns.RcodeSuccess && rcode != dns.RcodeRefused {
					t.Errorf("rcode %d", rcode)
					return
				}
			}
		})
	}
	for range 1000 {
		shared.Store(empty)
		shared.Store(full)
	}
	close(stop)
	wait.Wait()
}
