package answer

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"

	"gslbd/zone"
	"gslbd/zone/steer"
)

// Warm reaches the node of every name, wherever the index has it, and the one that a CNAME leads to.
func TestWarmReaches(t *testing.T) {
	const names = 3000
	more := []string{"out.example.com. 60 CNAME host-1.example.org.", "root.example.com. 60 CNAME .", "self.example.com. 60 CNAME self.example.com."}
	for i := range names {
		more = append(more, fmt.Sprintf("alias-%d.example.com. 60 CNAME ALIAS-%d.example.com.", i, (i+1)%names))
	}
	z := floodZone(t, 0, more...)
	r := &Reply{table: NewTable(z), entry: entry{z, true}}
	displaced := 0
	for _, c := range []struct{ format, first, second string }{
		{"alias-%d", "alias-%d", "alias-%d"}, {"ALIAS-%d", "alias-%d", "alias-%d"},
		{"out", "out", ""}, {"root", "root", ""}, {"self", "self", "self"}, {"nowhere", "", ""},
	} {
		for first := 0; first < names; first += minWarm {
			name := func(format string, i int) string {
				if format == "alias-%d" || format == "ALIAS-%d" {
					return fmt.Sprintf(format, i%names)
				}
				return format
			}
			var packets [minWarm][]byte
			for i := range packets {
				packets[i], _ = new(dns.Msg).SetQuestion(name(c.format, first+i)+".example.com.", dns.TypeA).Pack()
			}
			r.Warm(r.table, minWarm, func(i int) []byte { return packets[i] })
			for i := range packets {
				want := name(c.second, first+i+1)
				if c.second == "" {
					want = name(c.first, first+i) // no second round
				}
				p := r.warm.place[i]
				if got := z.owner(p.node); p.node == 0 && want != "" || p.node != 0 && want != string(got[1:]) {
					t.Fatalf("%s: node %d, %q, want %q", name(c.format, first+i), p.node, got, want)
				}
				if p != z.index[r.warm.hash[i]&uint64(len(z.index)-1)] {
					displaced++
				}
			}
		}
	}
	if displaced == 0 {
		t.Error("no name stood beside its place: this test says nothing")
	}
}

// What a group's CNAME leads to is fetched as well.
func TestWarmReachesTargetOfGroup(t *testing.T) {
	alias := rrsetOf(t, "alias.example.com. 60 CNAME Host.example.com.")
	alias.Group = &zone.Group{Key: zone.Key{Zone: "example.com.", Name: alias.Name, Type: alias.Type}, Members: []zone.Member{{RR: alias.RRs[0]}}}
	z, err := CompileZone(&zone.Zone{Name: "example.com.", Groups: []*zone.Group{alias.Group}, RRsets: []zone.RRset{
		rrsetOf(t, "example.com. 60 SOA . . 1 1 1 1 1"), alias, rrsetOf(t, "host.example.com. 60 A 192.0.2.1")}})
	if err != nil {
		t.Fatal(err)
	}
	r := &Reply{table: NewTable(z), entry: entry{z, true}}
	packet, _ := new(dns.Msg).SetQuestion("alias.example.com.", dns.TypeA).Pack()
	warm := func() string {
		r.Warm(r.table, minWarm, func(int) []byte { return packet })
		return string(z.owner(r.warm.place[0].node))
	}
	if got := warm(); got != "\x05alias" { // no answer yet
		t.Errorf("before: %q", got)
	}
	r.table.Publish(alias.Group.Key, steer.Selection{Members: []int{0}})
	if got := warm(); got != "\x04host" {
		t.Errorf("fetched %q, want host", got)
	}
}
