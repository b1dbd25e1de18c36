package dnsserver

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// boastful is a limited Responder that has long texts to tell.
func boastful(t *testing.T, o RateLimit) *limitedResponder {
	l := newLimited(t, o)
	set, long := fullSettings(t), strings.Repeat("n", 255)
	set.NSID, set.Version, set.Hostname, set.ID = long, long, long, long
	l.shared.Set(set)
	return l
}

// slipGain is how many octets what slips may be longer than its query: an extended error and a server cookie.
const slipGain = 6 + serverCookie

// TestSlipIsShort: what slips is no gain for whoever forges a victim's address, whatever it asks for: texts and names of the server stay
// out of errors too, and so do records. An error keeps its code.
func TestSlipIsShort(t *testing.T) {
	nsid, cookie := &dns.EDNS0_NSID{Code: dns.EDNS0NSID}, cookieOption("2464c4abcf10c957")
	long := strings.Repeat(strings.Repeat("l", 60)+".", 4)[:232] // the DNAME makes it too long
	for name, c := range map[string]struct {
		ask   string
		class uint16
		rcode int
		tc    bool
	}{
		"answer":   {"plain" + inZone, dns.ClassINET, dns.RcodeSuccess, true},
		"refused":  {"www.example.org.", dns.ClassINET, dns.RcodeRefused, false},
		"servfail": {"broken" + inZone, dns.ClassINET, dns.RcodeServerFailure, false},
		"chaos":    {"version.bind.", dns.ClassCHAOS, dns.RcodeSuccess, true},
		"no chaos": {"other.bind.", dns.ClassCHAOS, dns.RcodeRefused, false},
		"yxdomain": {long + ".dn" + inZone, dns.ClassINET, dns.RcodeYXDomain, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := boastful(t, RateLimit{ResponsesPerSecond: 1, Slip: 1})
			m := new(dns.Msg).SetQuestion(c.ask, dns.TypeTXT)
			if name == "servfail" {
				m.Question[0].Qtype = dns.TypeA
			}
			m.Question[0].Qclass = c.class
			m.SetEdns0(4096, false).IsEdns0().Option = []dns.EDNS0{nsid, cookie}
			packet, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			whole, _ := answered(t, l.Responder, packet, UDP)
			if whole.Rcode != c.rcode || !strings.Contains(optionsOf(whole), "nsid n") {
				t.Fatalf("within the limit: %v", whole)
			}
			got, n := answered(t, l.Responder, packet, UDP)
			if n > len(packet)+slipGain || got.Rcode != c.rcode || got.Truncated != c.tc || len(got.Answer)+len(got.Ns) > 0 {
				t.Errorf("%d octets for %d: %v", n, len(packet), got)
			}
			if !strings.Contains(optionsOf(got), "cookie 2464c4abcf10c957") {
				t.Errorf("no cookie to be known by next time: %v", got)
			}
		})
	}
}

// TestHostileLimited floods a limited server with nonsense: what comes back is a message by the rules, and what slips is short.
func TestHostileLimited(t *testing.T) {
	for name, o := range map[string]RateLimit{
		"slip":   {ResponsesPerSecond: 1, Slip: 1},
		"errors": {ResponsesPerSecond: 1000, ErrorsPerSecond: 1, Slip: 2, IPv4Prefix: 8},
		"drop":   {ResponsesPerSecond: 2},
	} {
		t.Run(name, func(t *testing.T) {
			l, a, buffer := boastful(t, o), newAttacker(t, rand.Uint64()), make([]byte, 0, 1<<13)
			var slipped uint64
			for i := range *hostilePackets / 10 {
				l.limit.now.Store(int64(i) * int64(time.Millisecond))
				packet := a.packet()
				from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 53)
				reply := l.Respond(buffer, packet, from, UDP)
				if what := breach(packet, reply, UDP); what != "" && len(reply) > 0 {
					t.Fatalf("%s\npacket %x\nreply  %x", what, packet, reply)
				}
				if now := l.outcomes().Slipped; now > slipped {
					if slipped = now; len(reply) > len(packet)+slipGain {
						t.Fatalf("slipped: %d octets for %d\npacket %x\nreply  %x", len(reply), len(packet), packet, reply)
					}
				}
			}
			if got := l.outcomes(); got.Limited+got.Slipped < uint64(*hostilePackets)/100 {
				t.Errorf("hardly limited: %+v", got)
			}
		})
	}
}
