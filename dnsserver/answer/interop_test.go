package answer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
	"gslbd/dnsserver/wire"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// TestPeers asks NSD and Knot what the cases ask, and a generated set of
// questions, and holds their replies against ours: what differs must be in the
// list of differences, and each entry of the list must occur.
func TestPeers(t *testing.T) {
	s := plainServer(t)
	asked := append(caseQuestions(t), generated(t, s)...)
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	list := differences()
	for _, d := range list {
		if !strings.Contains(string(readme), "| "+d.name+" | "+d.peers+" |") {
			t.Errorf("README.md lacks the row %q for %s", d.name, d.peers)
		}
	}
	for name, start := range map[string]func(*testing.T, *server) *peer{"nsd": startNSD, "knot": startKnot} {
		t.Run(name, func(t *testing.T) {
			c := &comparison{server: s, zones: newReference(s), peer: start(t, s), list: list, seen: make([]int, len(list)), strange: map[string]int{}}
			for _, packet := range asked {
				c.compare(t, packet, dnsserver.UDP)
				c.compare(t, packet, dnsserver.TCP)
			}
			c.report(t)
		})
	}
}

// comparison is with one peer.
type comparison struct {
	server  *server
	zones   *reference
	peer    *peer
	list    []difference
	seen    []int          // of each entry of list
	strange map[string]int // aspects without an entry
}

// compare asks both servers and looks each aspect that differs up in the list.
func (c *comparison) compare(t *testing.T, packet []byte, transport dnsserver.Transport) {
	t.Helper()
	pair := c.ask(t, packet, transport)
	left := slices.DeleteFunc(pair.differs(), func(aspect string) bool {
		for i, d := range c.list {
			if strings.Contains(d.peers, c.peer.name) && slices.Contains(strings.Fields(d.aspects), aspect) && d.match(pair) {
				c.seen[i]++
				return true
			}
		}
		return false
	})
	if len(left) == 0 {
		return
	}
	key := strings.Join(left, " ")
	if c.strange[key]++; c.strange[key] <= 3 {
		t.Errorf("over %v: %s\nquery  %v\nours   %+v\ntheirs %+v", transport, key, pair.query.MsgHdr, pair.ours, pair.theirs)
	}
}

// report counts what differed, and finds entries of the list that did not occur.
func (c *comparison) report(t *testing.T) {
	for what, n := range c.strange {
		t.Errorf("%d replies differ in %s", n, what)
	}
	for i, d := range c.list {
		if !strings.Contains(d.peers, c.peer.name) {
			continue
		}
		if c.seen[i] == 0 {
			t.Errorf("no reply differs as in %q", d.name)
		}
		t.Logf("%6d times: %s", c.seen[i], d.name)
	}
}

// replies are those of both servers to one query.
type replies struct {
	transport    dnsserver.Transport
	query        *dns.Msg
	ours, theirs form
	whole        form // ours over TCP
	zones        *reference
}

// form is a reply with its records as text in lower case, each section sorted.
type form struct {
	size                          int
	rcode, flags, edns            string
	aa, tc                        bool
	question                      string
	answer, authority, additional []string
}

// ask sends one query to both.
func (c *comparison) ask(t *testing.T, packet []byte, transport dnsserver.Transport) *replies {
	t.Helper()
	pair := &replies{transport: transport, query: new(dns.Msg), zones: c.zones}
	if pair.query.Unpack(packet) != nil { // for the sake of an option: the rest tells enough
		var q wire.Query
		wire.Parse(packet, &q)
		bare := slices.Concat(packet[:6], make([]byte, 6), packet[wire.HeaderSize:q.End])
		if err := pair.query.Unpack(bare); err != nil {
			t.Fatal(err)
		}
	}
	pair.theirs = formOf(c.peer.ask(t, bytes.Clone(packet), transport))
	ours, reply := c.server.ask(t, packet, transport)
	pair.ours = formOf(ours, len(reply))
	whole, reply := c.server.ask(t, packet, dnsserver.TCP)
	pair.whole = formOf(whole, len(reply))
	return pair
}

func formOf(m *dns.Msg, size int) form {
	f := form{size: size, rcode: dns.RcodeToString[m.Rcode], aa: m.Authoritative, tc: m.Truncated}
	for _, flag := range strings.Fields(flags(m))[1:] {
		switch flag {
		case "rd", "ra", "ad", "cd":
			f.flags += flag + " "
		case "edns", "do":
			f.edns += flag + " "
		}
	}
	for _, q := range m.Question {
		f.question += q.String()
	}
	f.answer, f.authority, f.additional = lines(m.Answer), lines(m.Ns), lines(m.Extra)
	return f
}

func lines(rrs []dns.RR) []string {
	var list []string
	for _, rr := range rrs {
		if rr.Header().Rrtype != dns.TypeOPT {
			list = append(list, plain(rr))
		}
	}
	slices.Sort(list)
	return list
}

// differs names the aspects in which the replies are not equal. Where both say
// TC, the client asks again over TCP, whatever the sections hold.
func (p *replies) differs() []string {
	var list []string
	add := func(equal bool, aspect string) {
		if !equal {
			list = append(list, aspect)
		}
	}
	add(p.ours.rcode == p.theirs.rcode, "rcode")
	add(p.ours.aa == p.theirs.aa, "aa")
	add(p.ours.tc == p.theirs.tc, "tc")
	add(p.ours.flags == p.theirs.flags, "flags")
	add(p.ours.edns == p.theirs.edns, "edns")
	add(p.ours.question == p.theirs.question, "question")
	if p.ours.tc && p.theirs.tc {
		return list
	}
	add(slices.Equal(p.ours.answer, p.theirs.answer), "answer")
	add(slices.Equal(p.ours.authority, p.theirs.authority), "authority")
	add(slices.Equal(p.ours.additional, p.theirs.additional), "additional")
	return list
}

// plainServer serves the zones of the cases so that every group answers all its
// primary members, or of several CNAMEs the first: what zone files without
// annotations would say.
func plainServer(t *testing.T) *server {
	s := serve(t, zones(t)...)
	for _, z := range s.zones {
		for _, g := range z.Groups {
			if g.Key.Type == dns.TypeCNAME {
				s.publish(g.Key, steer.Selection{Rule: steer.RulePool, Members: []int{0}, TTL: g.TTL})
			}
		}
	}
	return s
}

// zones reads the zones in testdata/zones.
func zones(t testing.TB) []*zone.Zone {
	t.Helper()
	files, err := filepath.Glob("testdata/zones/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var list []*zone.Zone
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, parse(t, filepath.Base(file)+".", string(text)))
	}
	return list
}

// caseQuestions gives the queries of the cases.
func caseQuestions(t *testing.T) (packets [][]byte) {
	t.Helper()
	files, _ := filepath.Glob("testdata/cases/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if ask, ok := strings.CutPrefix(line, "> "); ok {
				packets = append(packets, query(t, ask))
			}
		}
	}
	return packets
}

// generated asks every name of the zones and of the cases for the usual types,
// their parents, children and siblings for a third of these, in turn without
// EDNS, with it, and with DO; and every RRset for itself.
func generated(t *testing.T, s *server) (packets [][]byte) {
	t.Helper()
	types := []string{"A", "AAAA", "NS", "SOA", "MX", "TXT", "CNAME", "DNAME", "DS", "PTR", "SRV", "HTTPS", "ANY", "TYPE65400", "DNSKEY", "NSEC"}
	options := []string{"", "+edns=1232", "+do +rd", "+edns=512"}
	for _, z := range s.zones {
		for _, r := range z.RRsets {
			packets = append(packets, query(t, spaceless(r.Name)+" "+dns.Type(r.Type).String()+" +edns=1232"))
		}
	}
	asked := map[string]bool{}
	for _, name := range known(t, s) {
		name = norm(name)
		for _, n := range []string{name, parent(name), under("child", name), under("*", name), under("sibling", parent(name))} {
			n = spaceless(n)
			if size, err := dns.PackDomainName(n, make([]byte, 512), 0, nil, false); err != nil || size > 255 || asked[n] {
				continue
			}
			asked[n] = true
			for i, typ := range types {
				if n != name && (len(asked)+i)%3 > 0 {
					continue
				}
				packets = append(packets, query(t, fmt.Sprintf("%s %s %s", n, typ, options[(len(asked)+i)%len(options)])))
			}
		}
	}
	return packets
}

func under(label, name string) string { return label + "." + strings.TrimPrefix(name, ".") }

// spaceless writes a name so that a case may hold it.
func spaceless(name string) string { return strings.ReplaceAll(name, `\ `, `\032`) }
