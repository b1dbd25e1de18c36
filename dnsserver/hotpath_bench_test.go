package dnsserver

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver/answer"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// benchZone has one name for each kind of answer among 10,000 plain ones.
const benchZone = `$ORIGIN gslb.example.com.
$TTL 60
@ SOA ns1 hostmaster 1 3600 600 604800 60
@ NS ns1
@ NS ns2
ns1 A 203.0.113.53
ns2 A 198.51.100.53
plain A 192.0.2.1
six AAAA 2001:db8::1
mx MX 10 mail.plain
one A 192.0.2.10 ; @primary check=none
one A 198.51.100.10 ; @secondary check=none
four A 192.0.2.11 ; @primary check=none
four A 192.0.2.12 ; @primary check=none
four A 192.0.2.13 ; @primary check=none
four A 192.0.2.14 ; @primary check=none
alias CNAME one
chain CNAME chain2
chain2 CNAME chain3
chain3 CNAME four
scname CNAME one ; @primary check=none
scname CNAME four ; @secondary check=none
empty A 192.0.2.9 ; @primary check=none
broken A 192.0.2.9 ; @primary check=none
*.wild A 192.0.2.30 ; @primary check=none
sub NS ns1.sub
sub NS ns2.sub
ns1.sub A 192.0.2.41
ns2.sub A 192.0.2.42
dn DNAME wild
$GENERATE 1-130 big A 192.0.2.$ ; @static
$GENERATE 1-10000 host-$ A 192.0.2.7
`

// newTestResponder serves the zones; groups answer their primary members.
func newTestResponder(t testing.TB, texts map[string]string) (*Responder, *AnswerCounts) {
	t.Helper()
	names := zone.Vocabulary{Policies: map[string]zone.PolicyNames{"failover": {Pools: []string{"primary", "secondary"}}}}
	var groups []*zone.Group
	var zones []*answer.Zone
	for name, text := range texts {
		file := filepath.Join(t.TempDir(), "zone")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		z, problems := zone.Load(zone.Source{Name: name, File: file}, names)
		if problems.Failed(false) {
			t.Fatal(problems)
		}
		compiled, err := answer.CompileZone(z)
		if err != nil {
			t.Fatal(err)
		}
		zones, groups = append(zones, compiled), append(groups, z.Groups...)
	}
	table := answer.NewTable(zones...)
	for _, g := range groups {
		table.Publish(g.Key, primary(g))
	}
	shared, counts := new(atomic.Pointer[answer.Table]), new(AnswerCounts)
	shared.Store(table)
	return NewResponder(shared, counts), counts
}

func primary(g *zone.Group) steer.Selection {
	sel := steer.Selection{TTL: g.TTL}
	switch {
	case strings.HasPrefix(g.Key.Name, "empty."):
		sel.Rule = steer.RuleNoData
	case strings.HasPrefix(g.Key.Name, "broken."):
		sel.Rule = steer.RuleServFail
	default:
		for i, m := range g.Members {
			if m.Pool == "primary" {
				sel.Members = append(sel.Members, i)
			}
		}
	}
	return sel
}

// kind is a query and what the reply's header must say.
type kind struct {
	name, ask string
	qtype     uint16
	edns      bool
	rcode     int
	answers   int
	truncated bool
}

// kindsOfAnswers lists each kind of answer there is.
func kindsOfAnswers() []kind {
	const in = ".gslb.example.com."
	var list []kind
	for _, k := range []kind{
		{name: "plain", ask: "host-5000" + in, qtype: dns.TypeA, answers: 1},
		{name: "mixed-case", ask: "HoSt-5000.GsLb.eXample.COM.", qtype: dns.TypeA, answers: 1},
		{name: "aaaa", ask: "six" + in, qtype: dns.TypeAAAA, answers: 1},
		{name: "mx", ask: "mx" + in, qtype: dns.TypeMX, answers: 1},
		{name: "steered-1", ask: "one" + in, qtype: dns.TypeA, answers: 1},
		{name: "steered-4", ask: "four" + in, qtype: dns.TypeA, answers: 4},
		{name: "steered-nodata", ask: "empty" + in, qtype: dns.TypeA},
		{name: "servfail", ask: "broken" + in, qtype: dns.TypeA, rcode: dns.RcodeServerFailure},
		{name: "cname-1", ask: "alias" + in, qtype: dns.TypeA, answers: 2},
		{name: "cname-3", ask: "chain" + in, qtype: dns.TypeA, answers: 7},
		{name: "steered-cname", ask: "scname" + in, qtype: dns.TypeA, answers: 2},
		{name: "dname", ask: "host.dn" + in, qtype: dns.TypeA, answers: 3},
		{name: "nodata", ask: "plain" + in, qtype: dns.TypeAAAA},
		{name: "nxdomain", ask: "nothing" + in, qtype: dns.TypeA, rcode: dns.RcodeNameError},
		{name: "nxdomain-deep", ask: "a.b.c.d.e.f.g.h" + in, qtype: dns.TypeA, rcode: dns.RcodeNameError},
		{name: "wildcard", ask: "random.wild" + in, qtype: dns.TypeA, answers: 1},
		{name: "referral", ask: "www.sub" + in, qtype: dns.TypeA},
		{name: "any", ask: "plain" + in, qtype: dns.TypeANY, answers: 1},
		{name: "refused", ask: "www.example.org.", qtype: dns.TypeA, rcode: dns.RcodeRefused},
		{name: "truncated", ask: "big" + in, qtype: dns.TypeA, truncated: true},
	} {
		list = append(list, k)
		k.name += "-edns"
		k.edns = true
		list = append(list, k)
	}
	return list
}

func (k kind) packet(t testing.TB) []byte {
	m := new(dns.Msg)
	m.SetQuestion(k.ask, k.qtype)
	if k.edns {
		m.SetEdns0(1232, true)
	}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

// TestRespondAllocatesNothing asks each kind of answer and counts allocations.
func TestRespondAllocatesNothing(t *testing.T) {
	r, _ := newTestResponder(t, map[string]string{"gslb.example.com.": benchZone})
	dst := make([]byte, 0, 1232)
	for _, k := range kindsOfAnswers() {
		packet := k.packet(t)
		m := new(dns.Msg)
		if err := m.Unpack(r.Respond(dst, packet, netip.AddrPort{}, UDP)); err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		if m.Rcode != k.rcode || len(m.Answer) != k.answers || m.Truncated != k.truncated {
			t.Errorf("%s: %v", k.name, m)
		}
		if n := testing.AllocsPerRun(100, func() { r.Respond(dst, packet, netip.AddrPort{}, UDP) }); n != 0 {
			t.Errorf("%s: %v allocations", k.name, n)
		}
	}
}

// TestMalformedAllocatesNothing does the same with packets that get no answer.
func TestMalformedAllocatesNothing(t *testing.T) {
	r, _ := newTestResponder(t, map[string]string{"gslb.example.com.": benchZone})
	dst := make([]byte, 0, 1232)
	good := kindsOfAnswers()[0].packet(t)
	status := append([]byte(nil), good...)
	status[2] |= 2 << 3
	for name, packet := range map[string][]byte{
		"nothing": nil, "short": good[:11], "header": good[:12], "cut": good[:len(good)-1], "opcode": status,
		"trailing": append(append([]byte(nil), good...), 0),
	} {
		if n := testing.AllocsPerRun(100, func() { r.Respond(dst, packet, netip.AddrPort{}, UDP) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkRespond measures one reply of each kind: no sockets, everything in cache.
func BenchmarkRespond(b *testing.B) {
	r, _ := newTestResponder(b, map[string]string{"gslb.example.com.": benchZone})
	dst := make([]byte, 0, 1232)
	for _, k := range kindsOfAnswers() {
		packet := k.packet(b)
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Respond(dst, packet, netip.AddrPort{}, UDP)
			}
		})
	}
}

// BenchmarkBatch answers in full batches, each kind of 10,000 names in turn, and a mix of all with EDNS; it gives the time of one answer.
func BenchmarkBatch(b *testing.B) {
	r, _ := newTestResponder(b, map[string]string{"gslb.example.com.": benchZone + `
$GENERATE 1-10000 alias-$ CNAME host-$
$GENERATE 1-10000 group-$ A 192.0.2.7 ; @primary check=none
`})
	r.InBatches(answer.MaxBatch)
	dst := make([]byte, 0, 1232)
	var mix [][]byte
	bench := func(name string, packets [][]byte) {
		b.Run(name, func(b *testing.B) {
			first := 0
			for b.Loop() {
				for i := range answer.MaxBatch {
					r.Read(i, packets[(first+i)%len(packets)])
				}
				r.Find(answer.MaxBatch)
				for i := range answer.MaxBatch {
					r.Answer(i, dst, netip.AddrPort{}, UDP)
				}
				first = (first + answer.MaxBatch) % len(packets)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*answer.MaxBatch), "ns/answer")
		})
	}
	for _, name := range []string{"host-%d", "alias-%d", "group-%d", "nowhere-%d"} {
		packets := make([][]byte, 10_000)
		for i := range packets {
			k := kind{ask: fmt.Sprintf(name, i*7919%10000+1) + inZone, qtype: dns.TypeA}
			packets[i] = k.packet(b)
			k.edns = true
			mix = append(mix, k.packet(b))
		}
		bench(strings.TrimSuffix(name, "-%d"), packets)
	}
	rand.Shuffle(len(mix), func(i, k int) { mix[i], mix[k] = mix[k], mix[i] })
	bench("mix-edns", mix)
}
