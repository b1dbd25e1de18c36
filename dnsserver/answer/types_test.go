package answer_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
)

// rrset names an RRset.
type rrset struct {
	name string
	typ  uint16
}

// TestTypes asks for each record of the zone types.test and compares with what
// the library reads in the file; of each type that it knows there must be one.
func TestTypes(t *testing.T) {
	s, types := serve(t, zones(t)...), map[uint16]bool{}
	for key, want := range typesZone(t) {
		types[key.typ] = true
		for _, transport := range []dnsserver.Transport{dnsserver.UDP, dnsserver.TCP} {
			m, _ := s.ask(t, query(t, key.name+" "+dns.Type(key.typ).String()+" +edns=1232"), transport)
			var got []string
			for _, rr := range append(m.Answer, m.Ns...) { // NS below the apex is a referral
				got = append(got, text(rr))
			}
			slices.Sort(got)
			if m.Rcode != dns.RcodeSuccess || !slices.Equal(got, want) {
				t.Errorf("%s %s over %v: %v\n%s\nwant\n%s", key.name, dns.Type(key.typ), transport, m.MsgHdr, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	// These are of messages, not of zones.
	for _, typ := range []uint16{dns.TypeOPT, dns.TypeTSIG, dns.TypeTKEY, dns.TypeANY, dns.TypeNXNAME} {
		types[typ] = true
	}
	for typ := range dns.TypeToRR {
		if !types[typ] {
			t.Errorf("no record of type %s is asked", dns.Type(typ))
		}
	}
}

// typesZone reads the zone types.test with the library, line by line, since of
// some types it reads past the end.
func typesZone(t *testing.T) map[rrset][]string {
	t.Helper()
	file, err := os.ReadFile("testdata/zones/types.test")
	if err != nil {
		t.Fatal(err)
	}
	sets := map[rrset][]string{}
	for line := range strings.Lines(string(file)) {
		rr, err := dns.NewRR("$ORIGIN types.test.\n$TTL 300\n" + line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if rr != nil {
			key := rrset{rr.Header().Name, rr.Header().Rrtype}
			sets[key] = append(sets[key], text(rr))
			slices.Sort(sets[key])
		}
	}
	return sets
}
