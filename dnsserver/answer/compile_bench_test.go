package answer_test

import (
	"fmt"
	"net"
	"runtime"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver/answer"
	"gslbd/zone"
)

// million is a zone of n records, most of them A of their own name, with some
// CNAME, MX, TXT and NS among them.
func million(n int) *zone.Zone {
	z := &zone.Zone{Name: "big.example.", File: "big"}
	add := func(name string, typ uint16, rr func(h dns.RR_Header) dns.RR) {
		h := dns.RR_Header{Name: name, Rrtype: typ, Class: dns.ClassINET, Ttl: 300}
		z.RRsets = append(z.RRsets, zone.RRset{Name: name, Type: typ, TTL: 300, RRs: []dns.RR{rr(h)}})
	}
	add(z.Name, dns.TypeSOA, func(h dns.RR_Header) dns.RR {
		return &dns.SOA{Hdr: h, Ns: "ns1.big.example.", Mbox: "host.big.example.", Minttl: 60}
	})
	add(z.Name, dns.TypeNS, func(h dns.RR_Header) dns.RR { return &dns.NS{Hdr: h, Ns: "ns1.big.example."} })
	for i := len(z.RRsets); i < n; i++ {
		name := fmt.Sprintf("host-%d.group-%d.big.example.", i, i%1000)
		switch i % 20 {
		case 1:
			add(name, dns.TypeCNAME, func(h dns.RR_Header) dns.RR {
				return &dns.CNAME{Hdr: h, Target: fmt.Sprintf("host-%d.big.example.", i/2)}
			})
		case 2:
			add(name, dns.TypeMX, func(h dns.RR_Header) dns.RR { return &dns.MX{Hdr: h, Preference: 10, Mx: "mail.big.example."} })
		case 3:
			add(name, dns.TypeTXT, func(h dns.RR_Header) dns.RR { return &dns.TXT{Hdr: h, Txt: []string{"v=spf1 -all"}} })
		case 4:
			add(name, dns.TypeNS, func(h dns.RR_Header) dns.RR { return &dns.NS{Hdr: h, Ns: "ns1.big.example."} })
		case 5, 6, 7:
			add(name, dns.TypeAAAA, func(h dns.RR_Header) dns.RR { return &dns.AAAA{Hdr: h, AAAA: net.IPv6loopback} })
		default:
			add(name, dns.TypeA, func(h dns.RR_Header) dns.RR {
				return &dns.A{Hdr: h, A: net.IPv4(10, byte(i>>16), byte(i>>8), byte(i))}
			})
		}
	}
	z.Records = len(z.RRsets)
	return z
}

// BenchmarkCompile1M compiles 1,000,000 records; B/record is what the compiled zone keeps.
func BenchmarkCompile1M(b *testing.B) {
	z := million(1_000_000)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var kept *answer.Zone
	for b.Loop() {
		kept = compile(b, z)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(z.Records), "B/record")
	runtime.KeepAlive(kept)
	runtime.KeepAlive(z)
}
