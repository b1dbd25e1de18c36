package dnsserver

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver/answer"
	"gslbd/zone"
)

// tableOf compiles a zone named example.com whose www has the address given.
func tableOf(t *testing.T, address string) *answer.Table {
	t.Helper()
	file := filepath.Join(t.TempDir(), "example.com.zone")
	text := "$ORIGIN example.com.\n$TTL 60\n@ SOA ns1 hostmaster 1 3600 600 604800 60\n@ NS ns1\nns1 A 192.0.2.53\nwww A " + address + "\n$GENERATE 1-200 big A 192.0.2.$ ; @static\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	z, problems := zone.Load(zone.Source{Name: "example.com", File: file}, zone.Vocabulary{})
	if problems.Failed(false) {
		t.Fatal(problems)
	}
	compiled, err := answer.CompileZone(z)
	if err != nil {
		t.Fatal(err)
	}
	return answer.NewTable(compiled)
}

// started starts a server that answers from table.
func started(t *testing.T, table *answer.Table, listen ...string) *Server {
	t.Helper()
	s := New(Options{Listen: listen, Workers: 2})
	s.SetTable(table)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

// The real dig, which checks ids, questions and source addresses, over each transport, family and kind of listener.
func TestDig(t *testing.T) {
	haveIPv6(t)
	program, err := exec.LookPath("dig")
	if err != nil {
		skip(t, "dig is not installed")
	}
	s := started(t, tableOf(t, "192.0.2.10"), "127.0.0.1:0", "[::1]:0", ":0")
	a := s.Addrs()
	for _, c := range []struct {
		at   string
		port uint16
	}{
		{"127.0.0.1", a[0].Port()}, {"::1", a[1].Port()},
		{"127.0.0.1", a[2].Port()}, {"127.0.0.2", a[2].Port()}, {"127.3.4.5", a[2].Port()}, {"::1", a[3].Port()},
	} {
		dig := func(args ...string) string {
			all := append([]string{"@" + c.at, "-p", fmt.Sprint(c.port), "+tries=1", "+time=5"}, args...)
			out, err := exec.Command(program, all...).CombinedOutput()
			if err != nil {
				t.Fatalf("dig %v: %v\n%s", all, err, out)
			}
			return string(out)
		}
		for _, transport := range []string{"+notcp", "+tcp"} {
			if got := dig(transport, "+short", "www.example.com", "A"); got != "192.0.2.10\n" {
				t.Errorf("%s port %d %s: %q", c.at, c.port, transport, got)
			}
			if got := dig(transport, "+norecurse", "nope.example.com", "A"); !strings.Contains(got, "status: NXDOMAIN") || strings.Contains(strings.ToLower(got), "warning") {
				t.Errorf("%s port %d %s:\n%s", c.at, c.port, transport, got)
			}
		}
		if got := dig("+short", "big.example.com", "A"); strings.Count(got, "192.0.2.") != 200 { // TC, then again over TCP
			t.Errorf("%s port %d: %d addresses of 200", c.at, c.port, strings.Count(got, "192.0.2."))
		}
		if got := dig("+tcp", "+keepopen", "+noall", "+answer", "www.example.com", "A", "www.example.com", "A"); strings.Count(got, "192.0.2.10") != 2 {
			t.Errorf("%s port %d: two queries on one connection:\n%s", c.at, c.port, got)
		}
	}
	stats := s.Stats()
	if stats.UDP.Answered != 18 || stats.TCP.Answered != 30 || stats.Outcomes.NXDomain != 12 || stats.Outcomes.Truncated != 6 {
		t.Errorf("%+v", stats)
	}
}

// While tables are swapped, every query is answered, from one table or the other.
func TestSetTableUnderLoad(t *testing.T) {
	tables := []*answer.Table{tableOf(t, "192.0.2.10"), tableOf(t, "192.0.2.20")}
	s := started(t, tables[0], "127.0.0.1:0")
	done := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 4 {
		network := []string{"udp", "tcp"}[i%2]
		conn := &dns.Conn{Conn: dial(t, network, s.Addrs()[0])}
		clients.Go(func() {
			seen := map[string]int{}
			for {
				select {
				case <-done:
					if len(seen) != 2 {
						t.Errorf("%s: saw %v, want both tables", network, seen)
					}
					return
				default:
				}
				q := new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA)
				if err := conn.WriteMsg(q); err != nil {
					t.Error(err)
					return
				}
				m, err := conn.ReadMsg()
				if err != nil || m.Id != q.Id || len(m.Answer) != 1 {
					t.Errorf("%s: %v %v", network, m, err)
					return
				}
				address := m.Answer[0].(*dns.A).A.String()
				if seen[address]++; !slices.Contains([]string{"192.0.2.10", "192.0.2.20"}, address) {
					t.Errorf("%s: %s", network, address)
				}
			}
		})
	}
	for i := range 2000 {
		s.SetTable(tables[(i+i/100)%2])
		if i%100 != 0 {
			continue
		}
		was := s.Stats() // let either table answer every client before it goes
		eventually(t, "queries go on", func() bool {
			is := s.Stats()
			return is.UDP.Received > was.UDP.Received+40 && is.TCP.Received > was.TCP.Received+40
		})
	}
	close(done)
	clients.Wait()
}

// Before there is a table everything is refused.
func TestNoTable(t *testing.T) {
	s := started(t, nil, "127.0.0.1:0")
	for _, network := range []string{"udp", "tcp"} {
		conn := &dns.Conn{Conn: dial(t, network, s.Addrs()[0])}
		if err := conn.WriteMsg(new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA)); err != nil {
			t.Fatal(err)
		}
		if m, err := conn.ReadMsg(); err != nil || m.Rcode != dns.RcodeRefused {
			t.Errorf("%s: %v %v", network, m, err)
		}
	}
}

// Every byte of an answer comes from Respond, over TCP too: what a DNS library would refuse to parse is answered the same way on both.
func TestMalformedOverBothTransports(t *testing.T) {
	s := started(t, tableOf(t, "192.0.2.10"), "127.0.0.1:0")
	count := AnswerCounts{}
	want := NewResponder(&s.table, &count)
	for name, packet := range map[string][]byte{
		"question count 2": append([]byte{1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0}, "\x00\x00\x01\x00\x01"...),
		"no question":      {1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"cut name":         append([]byte{1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, "\x3fabc"...),
		"update":           append([]byte{1, 2, 0x28, 0, 0, 1, 0, 0, 0, 0, 0, 0}, "\x00\x00\x06\x00\x01"...),
	} {
		expected := string(want.Respond(nil, packet, netip.AddrPort{}, UDP))
		if expected == "" {
			t.Fatalf("%s: no answer to compare", name)
		}
		for _, network := range []string{"udp", "tcp"} {
			conn := &dns.Conn{Conn: dial(t, network, s.Addrs()[0])}
			if _, err := conn.Write(packet); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 512)
			n, err := conn.Read(got)
			if err != nil || string(got[:n]) != expected {
				t.Errorf("%s over %s: got %x (%v), want %x", name, network, got[:n], err, expected)
			}
		}
	}
}
