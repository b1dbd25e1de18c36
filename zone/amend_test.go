package zone

import (
	"slices"
	"testing"

	"github.com/miekg/dns"
)

// TestBitMapOrder reads type lists in the order that people write.
func TestBitMapOrder(t *testing.T) {
	z := load(t, head+"x NSEC y TYPE65534 AAAA A NSEC A\n2t7b4g4vsa5smi47k61mv5bv1a22bojr NSEC3 1 1 12 aabb 2vptu5timamqttgl4luu9kg21e0aor3s MX DNSKEY A\n")
	found := 0
	for _, s := range z.RRsets {
		switch rr := s.RRs[0].(type) {
		case *dns.NSEC:
			found++
			if !slices.Equal(rr.TypeBitMap, []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeNSEC, 65534}) {
				t.Error(rr)
			}
		case *dns.NSEC3:
			found++
			if !slices.Equal(rr.TypeBitMap, []uint16{dns.TypeA, dns.TypeMX, dns.TypeDNSKEY}) {
				t.Error(rr)
			}
		}
	}
	if found != 2 {
		t.Error(found, "records found")
	}
}

// TestParameters holds records that come in wire form to the same rules.
func TestParameters(t *testing.T) {
	for data, ok := range map[string]bool{
		`\# 3 0001 00`:                           true,
		`\# 13 0001 00 0000 0002 0003 0003 0000`: false, // no room for the port
		`1 . mandatory=port port=443`:            true,
		`1 . alpn=h2 no-default-alpn`:            true,
		`0 target`:                               true,
		`1 . mandatory=port`:                     false,
		`1 . no-default-alpn`:                    false,
	} {
		for _, kind := range []string{"SVCB", "HTTPS"} {
			_, problems := Load(Source{"example.com", write(t, head+"x "+kind+" "+data+"\n")}, testVocabulary())
			if problems.Failed(false) == ok {
				t.Errorf("%s %s: %v", kind, data, problems)
			}
		}
	}
}
