package answer_test

import (
	"slices"
	"strings"
	"testing"

	"gslbd/dnsserver"
	"gslbd/dnsserver/answer"
)

const linkZone = `$TTL 60
@ SOA ns.other. h 1 1 1 1 1
@ NS ns.other.
alias CNAME WWW
www A 192.0.2.1
tokid CNAME www.kid
www.kid A 192.0.2.2
tocut CNAME cut
tobelow CNAME host.cut
cut NS host.cut
host.cut A 192.0.2.4
tostar CNAME *.wild
*.wild A 192.0.2.5
toent CNAME wild
toalias CNAME alias
todname CNAME dn
dn DNAME www
dn A 192.0.2.6
todnamed CNAME x.dn
toapex CNAME @
self CNAME self
steered CNAME www.kid ; @primary check=none
steered CNAME dn ; @secondary check=none
`

// What a CNAME leads to is found when the zone is compiled; that counts only
// where the name is answered by this zone and as itself.
func TestLinkedTargets(t *testing.T) {
	z := parse(t, "example.", linkZone)
	kid := parse(t, "kid.example.", "$TTL 60\n@ SOA ns.other. h 1 1 1 1 1\n@ NS ns.other.\nwww A 192.0.2.3\n")
	steered := z.Groups[0]
	alone := answer.NewTable(compile(t, z))
	both := answer.NewTable(compile(t, z), compile(t, kid))
	s := serve(t)
	for _, c := range []struct {
		table        *answer.Table
		pool, ask    string
		rcode, wants string
	}{
		{alone, "primary", "alias.example. A", "NOERROR aa", "alias.example. CNAME WWW.example.|WWW.example. A 192.0.2.1"},
		{alone, "primary", "alias.example. AAAA", "NOERROR aa", "alias.example. CNAME WWW.example.|SOA"},
		{alone, "primary", "alias.example. DS", "NOERROR aa", "alias.example. CNAME WWW.example.|SOA"},
		{alone, "primary", "tokid.example. A", "NOERROR aa", "tokid.example. CNAME www.kid.example.|www.kid.example. A 192.0.2.2"},
		{both, "primary", "tokid.example. A", "NOERROR aa", "tokid.example. CNAME www.kid.example.|www.kid.example. A 192.0.2.3"},
		{alone, "primary", "tokid.example. A", "NOERROR aa", "tokid.example. CNAME www.kid.example.|www.kid.example. A 192.0.2.2"},
		{alone, "primary", "tocut.example. A", "NOERROR aa", "tocut.example. CNAME cut.example.|cut.example. NS host.cut.example.|host.cut.example. A 192.0.2.4"},
		{alone, "primary", "tobelow.example. A", "NOERROR aa", "tobelow.example. CNAME host.cut.example.|cut.example. NS host.cut.example.|host.cut.example. A 192.0.2.4"},
		{alone, "primary", "tostar.example. A", "NOERROR aa", "tostar.example. CNAME *.wild.example.|*.wild.example. A 192.0.2.5"},
		{alone, "primary", "toent.example. A", "NOERROR aa", "toent.example. CNAME wild.example.|SOA"},
		{alone, "primary", "toalias.example. A", "NOERROR aa", "toalias.example. CNAME alias.example.|alias.example. CNAME WWW.example.|WWW.example. A 192.0.2.1"},
		{alone, "primary", "todname.example. A", "NOERROR aa", "todname.example. CNAME dn.example.|dn.example. A 192.0.2.6"},
		{alone, "primary", "todnamed.example. A", "NXDOMAIN aa", "todnamed.example. CNAME x.dn.example.|dn.example. DNAME www.example.|x.dn.example. CNAME x.www.example.|SOA"},
		{alone, "primary", "toapex.example. A", "NOERROR aa", "toapex.example. CNAME example.|SOA"},
		{alone, "primary", "self.example. A", "NOERROR aa", "self.example. CNAME self.example."},
		{alone, "primary", "steered.example. A", "NOERROR aa", "steered.example. CNAME www.kid.example.|www.kid.example. A 192.0.2.2"},
		{both, "primary", "steered.example. A", "NOERROR aa", "steered.example. CNAME www.kid.example.|www.kid.example. A 192.0.2.3"},
		{alone, "secondary", "steered.example. A", "NOERROR aa", "steered.example. CNAME dn.example.|dn.example. A 192.0.2.6"},
	} {
		c.table.Publish(steered.Key, selection(steered, c.pool))
		s.shared.Store(c.table)
		m, _ := s.ask(t, query(t, c.ask), dnsserver.UDP)
		var got []string
		for _, rr := range slices.Concat(m.Answer, m.Ns, m.Extra) {
			fields := strings.Fields(rr.String())
			text := strings.Join(slices.Delete(fields, 1, 3), " ")
			if fields[1] == "SOA" {
				text = "SOA"
			}
			got = append(got, text)
		}
		if got := strings.Join(got, "|"); flags(m) != c.rcode || got != c.wants {
			t.Errorf("%s: %s %s\nwant %s %s", c.ask, flags(m), got, c.rcode, c.wants)
		}
	}
}
