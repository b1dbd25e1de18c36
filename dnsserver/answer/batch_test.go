package answer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver/wire"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// batchOf is a batch of questions for A records.
func batchOf(t *testing.T, names ...string) *Batch {
	t.Helper()
	b := NewBatch(len(names))
	for i, name := range names {
		b.Questions[i].Query = wire.Query{Name: *asked(t, name), Type: dns.TypeA, Class: dns.ClassINET}
	}
	return b
}

// found gives the name of the node of the i-th question, relative to the zone's,
// and of the node that two CNAMEs led to; "-" for none.
func (b *Batch) found(i int) (name, target string) {
	q := &b.Questions[i]
	if !q.exact {
		return "-", "-"
	}
	for k := range b.ahead.n {
		if int(b.ahead.asker[k]) == i {
			return string(q.zone.owner(q.node)), string(q.zone.owner(b.ahead.node[k]))
		}
	}
	return string(q.zone.owner(q.node)), "-"
}

// label is the wire form of one, without the root's.
func label(text string) string { return string(rune(len(text))) + text }

// Find reaches the node of every name, wherever the index has it, and those that
// CNAMEs lead to.
func TestFindReaches(t *testing.T) {
	const names = 600
	more := []string{"out.example.com. 60 CNAME host-1.example.org.", "root.example.com. 60 CNAME .", "self.example.com. 60 CNAME self.example.com."}
	for i := range names {
		more = append(more, fmt.Sprintf("alias-%d.example.com. 60 CNAME ALIAS-%d.example.com.", i, (i+1)%names))
	}
	z := floodZone(t, 0, more...)
	table, displaced := NewTable(z), 0
	for first := 0; first < names; first += 5 {
		ask, want := []string{"out", "root", "self", "nowhere"}, [][2]string{{label("out"), "-"}, {label("root"), "-"}, {label("self"), label("self")}, {"-", "-"}}
		for i := first; i < first+5; i++ {
			ask = append(ask, fmt.Sprintf([]string{"alias-%d", "ALIAS-%d"}[i%2], i))
			want = append(want, [2]string{label(fmt.Sprintf("alias-%d", i)), label(fmt.Sprintf("alias-%d", (i+2)%names))})
		}
		for i := range ask {
			ask[i] += ".example.com."
		}
		b := batchOf(t, ask...)
		b.Find(table, len(ask))
		for i := range ask {
			name, target := b.found(i)
			if name != want[i][0] || target != want[i][1] {
				t.Fatalf("%s: found %q, its target %q; want %q", ask[i], name, target, want[i])
			}
			q := &b.Questions[i]
			if home := z.hash(q.relative()) & uint64(len(z.index)-1); q.exact && z.index[home].node != q.node {
				displaced++
			}
		}
	}
	if displaced == 0 {
		t.Error("no name stood beside its place: this test says nothing")
	}
}

// What a group's CNAME leads to is fetched as well.
func TestFindReachesTargetOfGroup(t *testing.T) {
	alias := rrsetOf(t, "alias.example.com. 60 CNAME Host.example.com.")
	alias.Group = &zone.Group{Key: zone.Key{Zone: "example.com.", Name: alias.Name, Type: alias.Type}, Members: []zone.Member{{RR: alias.RRs[0]}}}
	z, err := CompileZone(&zone.Zone{Name: "example.com.", Groups: []*zone.Group{alias.Group}, RRsets: []zone.RRset{
		rrsetOf(t, "example.com. 60 SOA . . 1 1 1 1 1"), alias, rrsetOf(t, "host.example.com. 60 CNAME end.example.com."), rrsetOf(t, "end.example.com. 60 A 192.0.2.1")}})
	if err != nil {
		t.Fatal(err)
	}
	table, b := NewTable(z), batchOf(t, slices.Repeat([]string{"alias.example.com."}, minAhead)...)
	for _, want := range []string{"-", "\x03end"} {
		b.Find(table, minAhead)
		if name, target := b.found(0); name != "\x05alias" || target != want {
			t.Errorf("found %q, its target %q; want %q", name, target, want)
		}
		table.Publish(alias.Group.Key, steer.Selection{Members: []int{0}}) // before, there is no answer
	}
}

// Every question of a batch is looked for in its own zone, the deepest that has
// it, and some in none, with few questions and with many.
func TestFindInSeveralZones(t *testing.T) {
	var zones []*Zone
	for _, name := range []string{"example.com.", "kid.example.com.", "example.org."} {
		z, err := CompileZone(&zone.Zone{Name: name, RRsets: []zone.RRset{
			rrsetOf(t, name+" 60 SOA . . 1 1 1 1 1"), rrsetOf(t, "www."+name+" 60 A 192.0.2.1"), rrsetOf(t, "www.kid."+name+" 60 A 192.0.2.1")}})
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, z)
	}
	table := NewTable(zones...)
	cases := []struct {
		ask   string
		typ   uint16
		zone  *Zone
		found string
	}{
		{"www.example.com.", dns.TypeA, zones[0], "\x03www"},
		{"www.kid.example.com.", dns.TypeA, zones[1], "\x03www"},
		{"no.example.com.", dns.TypeA, zones[0], "-"},
		{"a.b.c.example.com.", dns.TypeA, zones[0], "-"},
		{"kid.example.com.", dns.TypeDS, zones[0], "\x03kid"},
		{"kid.example.com.", dns.TypeA, zones[1], ""},
		{"example.org.", dns.TypeA, zones[2], ""},
		{"www.kid.example.org.", dns.TypeA, zones[2], "\x03www\x03kid"},
		{"elsewhere.", dns.TypeA, nil, "-"},
		{".", dns.TypeA, nil, "-"},
	}
	for n := 1; n <= 2*len(cases); n++ {
		b := NewBatch(n)
		for i := range n {
			c := cases[(i+n)%len(cases)]
			b.Questions[i].Query = wire.Query{Name: *asked(t, c.ask), Type: c.typ}
		}
		b.Find(table, n)
		for i := range n {
			c, q := cases[(i+n)%len(cases)], &b.Questions[i]
			found := "-"
			if q.exact && q.node != 0 {
				found = string(q.zone.owner(q.node))
			} else if q.exact {
				found = ""
			}
			if q.zone != c.zone || found != c.found {
				t.Errorf("%s, number %d of %d: found %q in %p, want %q in %p", c.ask, i, n, found, q.zone, c.found, c.zone)
			}
		}
	}
}

// Two names whose hashes have the same tag are told apart.
func TestFindWithEqualTags(t *testing.T) {
	z := floodZone(t, 0, "one.example.com. 60 A 192.0.2.1", "two.example.com. 60 A 192.0.2.2")
	one, two := z.nodeOf(asked(t, "one.example.com.").Wire), z.nodeOf(asked(t, "two.example.com.").Wire)
	for _, c := range []struct{ ask, want string }{{"one", "\x03one"}, {"none", "-"}} {
		b := batchOf(t, slices.Repeat([]string{c.ask + ".example.com."}, minAhead)...)
		rel := b.Questions[0].Name.Wire[:len(c.ask)+1]
		home, tag := int(z.hash(rel))&(len(z.index)-1), uint32(z.hash(rel)>>32)
		clear(z.index)
		z.index[home] = place{tag, two}
		if c.want != "-" {
			z.index[(home+1)%len(z.index)] = place{tag, one}
		}
		b.Find(NewTable(z), minAhead)
		for i := range minAhead {
			if got, _ := b.found(i); got != c.want {
				t.Errorf("%s: found %q, want %q", c.ask, got, c.want)
			}
		}
	}
}
