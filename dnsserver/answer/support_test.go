package answer_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
	"gslbd/dnsserver/answer"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// names is what the zones of the tests may refer to.
func names() zone.Vocabulary {
	return zone.Vocabulary{
		Checks:   []string{"web"},
		Policies: map[string]zone.PolicyNames{"failover": {Pools: []string{"primary", "secondary"}, Fallback: "fallback", Checks: []string{"web"}}},
	}
}

// parse reads a zone from text.
func parse(t testing.TB, name, text string) *zone.Zone {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	z, problems := zone.Load(zone.Source{Name: name, File: file}, names())
	if problems.Failed(false) {
		t.Fatal(problems)
	}
	return z
}

// compile compiles a zone that must be fine.
func compile(t testing.TB, z *zone.Zone) *answer.Zone {
	t.Helper()
	compiled, err := answer.CompileZone(z)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// server answers for some zones, and knows what it was told to.
type server struct {
	zones  []*zone.Zone
	table  *answer.Table
	chosen map[zone.Key]steer.Selection
	shared atomic.Pointer[answer.Table]
	set    dnsserver.Settings
	counts dnsserver.AnswerCounts
	recent [8][]byte // packets that were asked, the last of them first
	*dnsserver.Responder
}

// serve compiles zones; every group answers its primary members.
func serve(t testing.TB, zones ...*zone.Zone) *server {
	t.Helper()
	s := &server{zones: zones, chosen: map[zone.Key]steer.Selection{}}
	var compiled []*answer.Zone
	for _, z := range zones {
		compiled = append(compiled, compile(t, z))
	}
	s.table = answer.NewTable(compiled...)
	for _, z := range zones {
		for _, g := range z.Groups {
			s.publish(g.Key, selection(g, "primary"))
		}
	}
	s.shared.Store(s.table)
	s.Responder = dnsserver.NewResponder(&s.shared, &s.counts).InBatches(len(s.recent))
	s.told(testSettings())
	return s
}

func (s *server) publish(key zone.Key, sel steer.Selection) {
	s.chosen[key] = sel
	s.table.Publish(key, sel)
}

// selection is all members of a pool.
func selection(g *zone.Group, pool string) steer.Selection {
	sel := steer.Selection{Rule: steer.RulePool, Pool: pool, TTL: g.TTL}
	for i, m := range g.Members {
		if m.Pool == pool {
			sel.Members = append(sel.Members, i)
		}
	}
	return sel
}

// rich is a server for the zones in testdata/zones, some of whose groups do
// something special.
func rich(t testing.TB) *server {
	t.Helper()
	s := serve(t, zones(t)...)
	key := func(name string, typ uint16) zone.Key { return zone.Key{Zone: "example.", Name: name, Type: typ} }
	s.publish(key("empty.example.", dns.TypeA), steer.Selection{Rule: steer.RuleNoData, TTL: 300})
	s.publish(key("scnone.example.", dns.TypeCNAME), steer.Selection{Rule: steer.RuleNoData, TTL: 300})
	s.publish(key("broken.example.", dns.TypeA), steer.Selection{Rule: steer.RuleServFail, TTL: 300})
	s.publish(key("four.example.", dns.TypeA), steer.Selection{Rule: steer.RulePool, Members: []int{0, 1, 3}, MaxAnswers: 2, TTL: 17})
	s.publish(key("stxt.example.", dns.TypeTXT), steer.Selection{Rule: steer.RulePool, Members: []int{0, 1, 2}, MaxAnswers: 2, TTL: 18})
	return s
}

// ask sends a query message and unpacks the reply; nil for none. Over UDP it is
// in a batch with those that were asked before.
func (s *server) ask(t testing.TB, packet []byte, transport dnsserver.Transport) (*dns.Msg, []byte) {
	t.Helper()
	var reply []byte
	if transport == dnsserver.UDP {
		copy(s.recent[1:], s.recent[:])
		s.recent[0] = bytes.Clone(packet)
		for i, packet := range s.recent {
			s.Read(i, packet)
		}
		s.Find(len(s.recent))
		reply = s.Answer(0, nil, testClient(), transport)
	} else {
		reply = s.Respond(nil, packet, testClient(), transport)
	}
	if len(reply) == 0 {
		return nil, nil
	}
	m := new(dns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatalf("unpacking the reply to %x: %v\n%x", packet, err, reply)
	}
	return m, reply
}

// query makes a message from "NAME TYPE [+edns=SIZE] [+do] [+rd] [+cd] [+version=N] [+class=N] [+op=N]",
// and behind +edns options with their data in hex: +nsid= +ecs= +cookie= +keepalive= +padding= +unknown=.
func query(t testing.TB, text string) []byte {
	t.Helper()
	words := strings.Fields(text)
	typ, ok := dns.StringToType[words[1]]
	if n, err := strconv.ParseUint(strings.TrimPrefix(words[1], "TYPE"), 10, 16); !ok && err == nil {
		typ = uint16(n)
	}
	m := new(dns.Msg)
	m.SetQuestion(words[0], typ)
	m.RecursionDesired = false
	m.Id = 4711
	for _, w := range words[2:] {
		option(t, m, w)
	}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

func option(t testing.TB, m *dns.Msg, word string) {
	t.Helper()
	key, value, _ := strings.Cut(word, "=")
	n, _ := strconv.Atoi(value)
	opt := m.IsEdns0()
	if opt == nil && (key == "+edns" || key == "+do" || key == "+version") {
		opt = &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
		opt.SetUDPSize(1232)
		m.Extra = append(m.Extra, opt)
	}
	codes := map[string]uint16{"+nsid": 3, "+ecs": 8, "+cookie": 10, "+keepalive": 11, "+padding": 12, "+unknown": 65001}
	if code, ok := codes[key]; ok {
		data, err := hex.DecodeString(value)
		if err != nil || opt == nil {
			t.Fatalf("option %q: %v", word, err)
		}
		opt.Option = append(opt.Option, &dns.EDNS0_LOCAL{Code: code, Data: data})
		return
	}
	switch key {
	case "+edns":
		opt.SetUDPSize(uint16(n))
	case "+do":
		opt.SetDo()
	case "+version":
		opt.SetVersion(uint8(n))
	case "+rd":
		m.RecursionDesired = true
	case "+cd":
		m.CheckingDisabled = true
	case "+ad":
		m.AuthenticatedData = true
	case "+class":
		m.Question[0].Qclass = uint16(n)
	case "+op":
		m.Opcode = n
	default:
		t.Fatalf("unknown option %q", word)
	}
}
