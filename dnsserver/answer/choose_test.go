package answer_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// group makes a zone with one group of n records and serves it.
func group(t testing.TB, n int, record func(i int) string) (*server, *zone.Group) {
	var text strings.Builder
	text.WriteString("$ORIGIN example.\n$TTL 60\n@ SOA ns.other. h 1 1 1 1 1\n@ NS ns.other.\n")
	for i := range n {
		fmt.Fprintf(&text, "www %s ; @primary check=none\n", record(i))
	}
	for i := range n {
		fmt.Fprintf(&text, "t%d A 192.0.2.%d\n", i, i)
	}
	s := serve(t, parse(t, "example.", text.String()))
	return s, s.zones[0].Groups[0]
}

func all(g *zone.Group, most int) steer.Selection {
	sel := steer.Selection{Rule: steer.RulePool, TTL: 33, MaxAnswers: most}
	for i := range g.Members {
		sel.Members = append(sel.Members, i)
	}
	return sel
}

// TestRotation asks many times and counts how often each record stands first
// and how often it is there at all.
func TestRotation(t *testing.T) {
	address := func(i int) string { return fmt.Sprintf("A 192.0.2.%d", i) }
	six := func(i int) string { return fmt.Sprintf("AAAA 2001:db8::%x", i) }
	txt := func(i int) string { return fmt.Sprintf("TXT %q", strings.Repeat("x", i)) }
	alias := func(i int) string { return fmt.Sprintf("CNAME t%d", i) }
	for _, c := range []struct {
		name          string
		record        func(i int) string
		members, most int
		want          int // records in each answer
	}{
		{"one", address, 1, 0, 1},
		{"all", address, 4, 0, 4},
		{"window", address, 5, 2, 2},
		{"window of one", address, 3, 1, 1},
		{"window larger than the group", address, 3, 9, 3},
		{"aaaa", six, 3, 2, 2},
		{"sizes differ", txt, 4, 0, 4},
		{"sizes differ, window", txt, 5, 3, 3},
		{"more than orders are made ready", txt, 40, 2, 2},
		{"more than orders are made ready, window of one", txt, 100, 1, 1},
		{"cname", alias, 3, 0, 1},
		{"cnames, more than orders are made ready", alias, 100, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, g := group(t, c.members, c.record)
			s.publish(g.Key, all(g, c.most))
			first, there := map[string]int{}, map[string]int{}
			const asks = 4000
			packet := query(t, fmt.Sprintf("www.example. %s", dns.TypeToString[g.Key.Type]))
			for range asks {
				m, _ := s.ask(t, packet, dnsserver.TCP)
				if len(m.Answer) != c.want {
					t.Fatal(m)
				}
				first[text(m.Answer[0])]++
				for _, rr := range m.Answer {
					there[text(rr)]++
					if rr.Header().Ttl != 33 {
						t.Fatal(rr)
					}
				}
			}
			if len(there) != c.members {
				t.Errorf("%d records seen of %d", len(there), c.members)
			}
			for rr, n := range first {
				if mean := asks / c.members; c.members < 10 && (n < mean*8/10 || n > mean*12/10) {
					t.Errorf("%s: first in %d of %d", rr, n, asks)
				}
			}
			for rr, n := range there {
				if n > asks || c.members < 10 && n < asks*c.want/c.members*8/10 {
					t.Errorf("%s: in %d of %d", rr, n, asks)
				}
			}
		})
	}
}

// TestAlternatingTypes asks A and AAAA in turn, as clients do: both must rotate all the same.
func TestAlternatingTypes(t *testing.T) {
	s := serve(t, built(t, "zone.", soa, ns, "x.zone. 60 IN A 192.0.2.1|x.zone. 60 IN A 192.0.2.2", "x.zone. 60 IN AAAA 2001:db8::1|x.zone. 60 IN AAAA 2001:db8::2"))
	first := map[string]int{}
	for range 1000 {
		for _, typ := range []string{"A", "AAAA"} {
			m, _ := s.ask(t, query(t, "x.zone. "+typ), dnsserver.UDP)
			first[text(m.Answer[0])]++
		}
	}
	for rr, n := range first {
		if n < 400 || n > 600 {
			t.Errorf("%s first %d times of 1000", rr, n)
		}
	}
}

// TestFlips publishes while others look up: each reply is one selection, whole.
func TestFlips(t *testing.T) {
	s, g := group(t, 6, func(i int) string { return fmt.Sprintf("A 192.0.2.%d", i) })
	s.table.Publish(g.Key, steer.Selection{Rule: steer.RuleNoData})
	packet := query(t, "www.example. A")
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for range 3 {
		r := dnsserver.NewResponder(&s.shared, &s.counts)
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				var m dns.Msg
				if err := m.Unpack(r.Respond(nil, packet, netip.AddrPort{}, dnsserver.UDP)); err != nil {
					t.Error(err)
					return
				}
				if half := len(m.Answer) == 3; !half && len(m.Ns) != 1 {
					t.Error(&m)
					return
				}
				for _, rr := range m.Answer {
					if rr.(*dns.A).A[3]/3 != m.Answer[0].(*dns.A).A[3]/3 || rr.Header().Ttl != m.Answer[0].Header().Ttl {
						t.Error("two selections in one reply", &m)
						return
					}
				}
			}
		})
	}
	for i := range 3000 {
		switch i % 3 {
		case 0:
			s.table.Publish(g.Key, steer.Selection{Members: []int{0, 1, 2}, TTL: 10})
		case 1:
			s.table.Publish(g.Key, steer.Selection{Members: []int{3, 4, 5}, TTL: 20})
		default:
			s.table.Publish(g.Key, steer.Selection{Rule: steer.RuleNoData})
		}
	}
	close(stop)
	wait.Wait()
}

// BenchmarkPublish measures a flip of a group of four.
func BenchmarkPublish(b *testing.B) {
	s, g := group(b, 4, func(i int) string { return fmt.Sprintf("A 192.0.2.%d", i) })
	sel := all(g, 0)
	b.ReportAllocs()
	for b.Loop() {
		s.table.Publish(g.Key, sel)
	}
}
