package answer_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
	"gslbd/dnsserver/answer"
	"gslbd/zone"
)

// built makes a zone by hand, so that it may be wrong: one RRset a line.
func built(t testing.TB, name string, sets ...string) *zone.Zone {
	t.Helper()
	z := &zone.Zone{Name: name, File: "zones/" + strings.TrimSuffix(name, ".")}
	for _, text := range sets {
		r := zone.RRset{}
		for _, line := range strings.Split(text, "|") {
			rr, err := dns.NewRR(line)
			if err != nil {
				t.Fatal(err)
			}
			r.RRs = append(r.RRs, rr)
			r.Name, r.Type, r.TTL = rr.Header().Name, rr.Header().Rrtype, rr.Header().Ttl
		}
		z.RRsets = append(z.RRsets, r)
		z.Records += len(r.RRs)
	}
	return z
}

const (
	soa = "zone. 60 IN SOA ns.zone. h.zone. 1 1 1 1 1"
	ns  = "zone. 60 IN NS ns.zone."
)

// steer makes a group of the last RRset.
func steered(z *zone.Zone) *zone.Zone {
	r := &z.RRsets[len(z.RRsets)-1]
	g := &zone.Group{Key: zone.Key{Zone: z.Name, Name: r.Name, Type: r.Type}, TTL: r.TTL, File: "zones/included", Line: 7}
	for _, rr := range r.RRs {
		g.Members = append(g.Members, zone.Member{Pool: "primary", RR: rr})
	}
	r.Group = g
	z.Groups = append(z.Groups, g)
	return z
}

// TestLargestRRset compiles and asks for the largest RRset that zone.Load lets pass.
func TestLargestRRset(t *testing.T) {
	var text strings.Builder
	text.WriteString("$TTL 60\n@ SOA ns.other. h 1 1 1 1 1\n@ NS ns.other.\n")
	for i := range zone.MaxRRset / 16 {
		fmt.Fprintf(&text, "www A 10.0.%d.%d\n", i>>8, i&255)
	}
	s := serve(t, parse(t, "example.", text.String()))
	if m, _ := s.ask(t, query(t, "www.example. A"), dnsserver.TCP); len(m.Answer) != zone.MaxRRset/16 {
		t.Error(len(m.Answer), m.Truncated)
	}
}

func TestCompileErrors(t *testing.T) {
	var large []string
	for i := range 300 {
		large = append(large, fmt.Sprintf("x.zone. 60 IN TXT %q", strings.Repeat(string(rune('a'+i%26)), 240)))
	}
	label := strings.Repeat("l", 63) + "."
	a := func(set zone.RRset, rr dns.RR) *zone.Zone {
		z := built(t, "zone.", soa, ns)
		set.RRs = []dns.RR{rr}
		z.RRsets = append(z.RRsets, set)
		return z
	}
	for want, z := range map[string]*zone.Zone{
		"zones/zone: zone zone has no SOA":                                  built(t, "zone.", ns),
		"zones/zone: x.other/A: the name is outside the zone zone":          built(t, "zone.", soa, "x.other. 60 IN A 192.0.2.1"),
		"zones/zone: xzone/A: ":                                             built(t, "zone.", soa, "xzone. 60 IN A 192.0.2.1"),
		"zones/zone: x.zone/TXT: the RRsets of this name do not stand":      built(t, "zone.", soa, "x.zone. 60 IN A 192.0.2.1", "y.zone. 60 IN A 192.0.2.1", "x.zone. 60 IN TXT x"),
		"zones/zone: x.zone/A: two RRsets of this name and type":            built(t, "zone.", soa, "x.zone. 60 IN A 192.0.2.1", "x.zone. 60 IN A 192.0.2.2"),
		"zones/included:7: x.zone/NS: records of this type cannot be":       steered(built(t, "zone.", soa, "x.zone. 60 IN NS ns.zone.")),
		"zones/included:7: x.zone/DNAME: records of this type cannot be":    steered(built(t, "zone.", soa, "x.zone. 60 IN DNAME y.zone.")),
		"zones/included:7: zone/SOA: records of this type cannot be":        steered(built(t, "zone.", soa)),
		"zones/zone: x.zone/TXT: the records are larger than 63487 bytes":   built(t, "zone.", soa, strings.Join(large, "|")),
		"zones/included:7: x.zone/TXT: the records are larger than 63487":   steered(built(t, "zone.", soa, strings.Join(large, "|"))),
		"zones/zone: zone/SOA: not one SOA":                                 built(t, "zone.", soa+"|"+soa),
		"zones/zone: x.zone/A: no records":                                  {Name: "zone.", File: "zones/zone", RRsets: []zone.RRset{{Name: "x.zone.", Type: dns.TypeA}}},
		"zones/zone: /A: the name is outside the zone zone":                 {Name: "zone.", File: "zones/zone", RRsets: []zone.RRset{{Type: dns.TypeA, RRs: []dns.RR{&dns.A{A: net.IPv4zero}}}}},
		"zones/bad: name \"bad\" does not end with a dot":                   {Name: "bad", File: "zones/bad"},
		"zones/zone: zone/A: \"?0102\" is not an IPv4 address":              a(zone.RRset{Name: "zone.", Type: 1}, &dns.A{Hdr: dns.RR_Header{Name: "zone.", Rrtype: 1}, A: net.IP{1, 2}}),
		"zones/zone: zone/AAAA: \"?0102\" is not an IPv6 address":           a(zone.RRset{Name: "zone.", Type: 28}, &dns.AAAA{Hdr: dns.RR_Header{Name: "zone.", Rrtype: 28}, AAAA: net.IP{1, 2}}),
		"zones/zone: zone/MX: name \"relative\" does not end with a dot":    a(zone.RRset{Name: "zone.", Type: 15}, &dns.MX{Hdr: dns.RR_Header{Name: "zone.", Rrtype: 15}, Mx: "relative"}),
		"zones/zone: x.zone/CNAME: name \"..\" has a label of 0 bytes":      a(zone.RRset{Name: "x.zone.", Type: 5}, &dns.CNAME{Hdr: dns.RR_Header{Name: "x.zone.", Rrtype: 5}, Target: ".."}),
		"zones/zone: x.zone/SRV: packing x.zone. 0 CLASS0 SRV 0 0 0 x: dns": a(zone.RRset{Name: "x.zone.", Type: 33}, &dns.SRV{Hdr: dns.RR_Header{Name: "x.zone.", Rrtype: 33}, Target: "x"}),
		"zones/zone: " + label[:63] + "a.zone/A: name \"": {Name: "zone.", File: "zones/zone", RRsets: []zone.RRset{
			{Name: label[:63] + "a.zone.", Type: dns.TypeA, RRs: []dns.RR{&dns.A{A: net.IPv4zero}}}}},
		"zones/zone: " + strings.Repeat(label, 4) + "zone/A: the name is longer than 255 bytes": {Name: "zone.", File: "zones/zone", RRsets: []zone.RRset{
			{Name: strings.Repeat(label, 4) + "zone.", Type: dns.TypeA, RRs: []dns.RR{&dns.A{A: net.IPv4zero}}}}},
	} {
		if _, err := answer.CompileZone(z); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestDeepNames asks names at the limits of RFC 1035 §2.3.4.
func TestDeepNames(t *testing.T) {
	deepest := strings.Repeat("x.", 124) + "zone."
	longest := strings.Repeat(strings.Repeat("l", 63)+".", 3) + strings.Repeat("m", 55) + ".zone."
	s := serve(t, built(t, "zone.", soa, ns, deepest+" 60 IN A 192.0.2.1", longest+" 60 IN A 192.0.2.2", "y."+parent(parent(deepest))+" 60 IN CNAME "+longest))
	f := newReference(s)
	for _, c := range []struct {
		name    string
		rcode   int
		answers int
	}{
		{deepest, 0, 1},
		{parent(deepest), 0, 0},
		{parent(parent(parent(deepest))), 0, 0},
		{"y." + parent(deepest), dns.RcodeNameError, 0},
		{"y." + parent(parent(deepest)), 0, 2},
		{"y.x.zone.", dns.RcodeNameError, 0},
		{strings.Repeat("y.", 124) + "zone.", dns.RcodeNameError, 0},
		{longest, 0, 1},
	} {
		packet := query(t, c.name+" A")
		m, _ := s.ask(t, packet, dnsserver.TCP)
		if m.Rcode != c.rcode || len(m.Answer) != c.answers {
			t.Errorf("%s: %v", c.name, m)
		}
		check(t, s, f, packet)
	}
}

// TestManyDeepNames makes the compiler's index grow, as few RRsets have many ancestors.
func TestManyDeepNames(t *testing.T) {
	sets := []string{soa, ns}
	for i := range 50 {
		sets = append(sets, fmt.Sprintf("%s%d.zone. 60 IN A 192.0.2.1", strings.Repeat("x.", 50), i))
	}
	s := serve(t, built(t, "zone.", sets...))
	for i := range 50 {
		for labels := range 50 {
			m, _ := s.ask(t, query(t, fmt.Sprintf("%s%d.zone. A", strings.Repeat("x.", labels+1), i)), dnsserver.UDP)
			if m.Rcode != 0 || (len(m.Answer) == 1) != (labels == 49) {
				t.Fatal(m)
			}
		}
	}
}

// TestRootZone serves the root: every name is in it, and pointers to it make no sense.
func TestRootZone(t *testing.T) {
	s := serve(t, built(t, ".", ". 60 IN SOA a.root. h.root. 1 1 1 1 1", ". 60 IN NS a.root.", "a.root. 60 IN A 192.0.2.1",
		"com. 60 IN NS ns.com.", "ns.com. 60 IN A 192.0.2.2", "alias. 60 IN CNAME a.root.", "x.alias. 60 IN CNAME ."),
		built(t, "zone.", soa, ns, "up.zone. 60 IN CNAME a.root."))
	f := newReference(s)
	for _, ask := range []string{". SOA", ". NS", ". A", "a.root. A", "A.ROOT. AAAA", "nothing. A", "www.example.com. A", "com. DS", "alias. A", "x.alias. NS",
		"zone. DS", "zone. A", "up.zone. A", ". DS", ". ANY", "root. ANY"} {
		check(t, s, f, query(t, ask))
	}
}

// TestLongChain follows 16 links of 30; the last answered is not followed.
func TestLongChain(t *testing.T) {
	sets := []string{soa, ns}
	for i := range 30 {
		sets = append(sets, fmt.Sprintf("c%d.zone. 60 IN CNAME c%d.zone.", i, i+1))
	}
	s := serve(t, built(t, "zone.", append(sets, "c30.zone. 60 IN A 192.0.2.1")...))
	f := newReference(s)
	for i, want := range map[int]int{0: 17, 13: 17, 14: 17, 15: 16, 29: 2} {
		packet := query(t, fmt.Sprintf("c%d.zone. A +edns=1232", i))
		if m, _ := s.ask(t, packet, dnsserver.UDP); len(m.Answer) != want || m.Rcode != 0 {
			t.Errorf("from c%d: %v", i, m)
		}
		check(t, s, f, packet)
	}
}

// Whoever compiles gently has a chance to rest after each RRset, and once more for each name but the zone's.
func TestCompileGently(t *testing.T) {
	rests := 0
	z := built(t, "zone.", soa, ns, "a.zone. 60 IN A 127.0.0.1|a.zone. 60 IN A 127.0.0.2", "b.zone. 60 IN A 127.0.0.1")
	if _, err := answer.CompileGently(z, func() { rests++ }); err != nil || rests != 6 {
		t.Errorf("%d rests, want 6; %v", rests, err)
	}
}
