package answer_test

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
	"gslbd/dnsserver/answer"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// tiny is a zone that holds one A record at its apex.
func tiny(t testing.TB, name, address string) *zone.Zone {
	return built(t, name, name+" 60 IN SOA ns.other. h.other. 1 1 1 1 1", name+" 60 IN NS ns.other.", name+" 60 IN A "+address)
}

func (s *server) address(t testing.TB, name string) string {
	t.Helper()
	m, _ := s.ask(t, query(t, name+" A"), dnsserver.UDP)
	if len(m.Answer) != 1 {
		return dns.RcodeToString[m.Rcode]
	}
	return m.Answer[0].(*dns.A).A.String()
}

func TestLongestSuffix(t *testing.T) {
	s := serve(t, tiny(t, "example.", "192.0.2.1"), tiny(t, "b.example.", "192.0.2.2"), tiny(t, "c.b.example.", "192.0.2.3"), tiny(t, "x.y.z.test.", "192.0.2.4"))
	for name, want := range map[string]string{
		"example.": "192.0.2.1", "b.example.": "192.0.2.2", "c.b.example.": "192.0.2.3", "C.B.Example.": "192.0.2.3", "x.y.z.test.": "192.0.2.4",
		"d.c.b.example.": "NXDOMAIN", "a.example.": "NXDOMAIN",
		"y.z.test.": "REFUSED", "test.": "REFUSED", ".": "REFUSED", "notexample.": "REFUSED", "ample.": "REFUSED", "example.test.": "REFUSED",
	} {
		if got := s.address(t, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestManyZones(t *testing.T) {
	var zones []*zone.Zone
	for i := range 300 {
		zones = append(zones, tiny(t, fmt.Sprintf("z%d.example.", i), fmt.Sprintf("192.0.2.%d", i%256)))
	}
	s := serve(t, zones...)
	for i := range 300 {
		if got, want := s.address(t, fmt.Sprintf("z%d.example.", i)), fmt.Sprintf("192.0.2.%d", i%256); got != want {
			t.Fatalf("zone %d: %s", i, got)
		}
		if got := s.address(t, fmt.Sprintf("y%d.example.", i)); got != "REFUSED" {
			t.Fatalf("no zone %d: %s", i, got)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	s := serve(t)
	for _, table := range []*answer.Table{s.table, nil} {
		s.shared.Store(table)
		if got := s.address(t, "example."); got != "REFUSED" {
			t.Error(got)
		}
	}
}

func TestLaterZoneCounts(t *testing.T) {
	s := serve(t, tiny(t, "example.", "192.0.2.1"), tiny(t, "example.", "192.0.2.2"))
	if got := s.address(t, "example."); got != "192.0.2.2" {
		t.Error(got)
	}
}

// TestSharedZone shares a compiled zone between two tables, as a reload does: its answers go along.
func TestSharedZone(t *testing.T) {
	z := parse(t, "example.", "$ORIGIN example.\n$TTL 60\n@ SOA ns.other. h 1 1 1 1 1\n@ NS ns.other.\nwww A 192.0.2.1 ; @primary check=none\nwww A 192.0.2.2 ; @secondary check=none\n")
	compiled := compile(t, z)
	first := answer.NewTable(compiled)
	s := serve(t)
	s.shared.Store(first)
	if got := s.address(t, "www.example."); got != "SERVFAIL" {
		t.Errorf("before anything was published: %s", got)
	}
	key := z.Groups[0].Key
	first.Publish(key, selection(z.Groups[0], "primary"))
	second := answer.NewTable(compiled, compile(t, tiny(t, "other.", "192.0.2.9")))
	s.shared.Store(second)
	if got := s.address(t, "www.example."); got != "192.0.2.1" {
		t.Errorf("in the new table: %s", got)
	}
	second.Publish(key, selection(z.Groups[0], "secondary"))
	if got := s.address(t, "www.example."); got != "192.0.2.2" {
		t.Errorf("after a flip: %s", got)
	}
	for _, unknown := range []zone.Key{{}, {Zone: "example.", Name: "other.example.", Type: 1}, {Zone: "example.", Name: key.Name, Type: 28}, {Zone: "test.", Name: key.Name, Type: 1}} {
		second.Publish(unknown, steer.Selection{})
	}
	if got := s.address(t, "www.example."); got != "192.0.2.2" {
		t.Errorf("after selections of unknown groups: %s", got)
	}
	second.Publish(key, steer.Selection{Members: []int{0, 2}})
	if got := s.address(t, "www.example."); got != "SERVFAIL" {
		t.Errorf("a member that is not there: %s", got)
	}
}
