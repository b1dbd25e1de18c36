package dnsserver

import (
	"runtime"
	"testing"
	"weak"

	"github.com/miekg/dns"

	"gslbd/dnsserver/answer"
)

// A zone that was replaced is freed, although TCP clients that asked for its names are still connected, UDP workers wait for their next
// query, and the last answer that came by a DNAME was from it.
func TestReplacedZonesAreFreed(t *testing.T) {
	s := startLimited(t, Options{Workers: 2})
	for range 20 { // so that each worker has one
		client := dns.Conn{Conn: dial(t, "udp", s.Addrs()[0])}
		if err := client.WriteMsg(new(dns.Msg).SetQuestion("www.dn"+inZone, dns.TypeA)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.ReadMsg(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"plain", "big", "www.dn", "no", "www.sub", "four"} {
		client := dns.Conn{Conn: dial(t, "tcp", s.Addrs()[0])}
		if err := client.WriteMsg(new(dns.Msg).SetQuestion(name+inZone, dns.TypeA)); err != nil {
			t.Fatal(err)
		}
		if m, err := client.ReadMsg(); err != nil || len(m.Answer)+len(m.Ns) == 0 {
			t.Fatalf("%s: %v %v", name, m, err)
		}
	}
	old := weak.Make(s.table.Load())
	s.SetTable(answer.NewTable())
	eventually(t, "the old table is freed", func() bool { runtime.GC(); return old.Value() == nil })
	if open := s.Stats().Open; open != 6 {
		t.Errorf("%d connections", open)
	}
}
