package dnsserver

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"
)

// sizesOf asks sizeZone for every length of answer: TC is set exactly when the answer, with the options that need room, is longer than
// limit, the NSID is there exactly where it fits besides, and what is truncated has no record. It gives how many answers were exactly limit.
func sizesOf(t *testing.T, r *Responder, announced, limit int, options []dns.EDNS0) (exact int) {
	t.Helper()
	const nsid = 4 + len("tokyo-1")
	for n := 400; n <= 1300; n++ {
		name := "n" + string(rune('a'+n/100)) + string(rune('a'+n/10%10)) + string(rune('a'+n%10)) + ".size."
		ask := func(transport Transport, more ...dns.EDNS0) (*dns.Msg, int) {
			m := new(dns.Msg).SetQuestion(name, dns.TypeTXT)
			if announced >= 0 {
				m.SetEdns0(uint16(announced), true).IsEdns0().Option = append(append([]dns.EDNS0(nil), options...), more...)
			}
			packet, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			return answered(t, r, packet, transport)
		}
		_, whole := ask(TCP)
		m, size := ask(UDP, &dns.EDNS0_NSID{Code: dns.EDNS0NSID})
		fits := whole <= limit
		if m.Truncated == fits || size > limit || len(m.Answer) > 0 != fits || len(m.Ns) > 0 {
			t.Fatalf("%s: %d octets of %d, TC %v, %d records, for an answer of %d", name, size, limit, m.Truncated, len(m.Answer), whole)
		}
		if announced >= 0 && fits {
			if named := whole+nsid <= limit; named != (size == whole+nsid) || !named && size != whole {
				t.Fatalf("%s: %d octets of %d for an answer of %d", name, size, limit, whole)
			}
		}
		if whole == limit {
			exact++
		}
	}
	return exact
}

// TestSizesWithOptions: answers one octet shorter and longer than what is allowed, beside each set of options, for each size announced,
// with and without a good cookie.
func TestSizesWithOptions(t *testing.T) {
	r, _ := newTestResponder(t, map[string]string{"size.": sizeZone()})
	_, shared := toldResponder(t, fullSettings(t))
	r.With(shared)
	const good = "2464c4abcf10c957010000005cf79f111f8130c3eee29480"
	subnet := &dns.EDNS0_LOCAL{Code: 8, Data: []byte("\x00\x02\x80\x00\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01")}
	for _, c := range []struct {
		name    string
		options []dns.EDNS0
		known   bool
	}{
		{"nothing", nil, false},
		{"a client cookie", []dns.EDNS0{cookieOption(good[:16])}, false},
		{"a bad cookie and a subnet", []dns.EDNS0{subnet, cookieOption(good[:46] + "00")}, false},
		{"a good cookie", []dns.EDNS0{cookieOption(good)}, true},
		{"a good cookie and a subnet", []dns.EDNS0{subnet, cookieOption(good)}, true},
	} {
		for _, most := range [][2]int{{1232, 0}, {1232, 512}, {1000, 700}, {700, 4096}} {
			set := fullSettings(t)
			set.UDPSize, set.UDPSizeWithoutCookie = most[0], most[1]
			shared.Set(set)
			allowed := most[0]
			if !c.known && most[1] > 0 {
				allowed = min(allowed, most[1])
			}
			for _, announced := range []int{-1, 0, 511, 512, 513, 1231, 1232, 65535} {
				limit := min(allowed, max(512, announced))
				if announced < 0 {
					limit = 512
				}
				t.Run(fmt.Sprintf("%s/%v/%d", c.name, most, announced), func(t *testing.T) {
					if exact := sizesOf(t, r, announced, limit, c.options); exact == 0 {
						t.Errorf("no answer was exactly %d", limit)
					}
				})
			}
		}
	}
}
