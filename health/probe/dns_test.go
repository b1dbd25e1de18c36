package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func dnsCheck(timeout time.Duration, o DNS) Check {
	if o.QType == 0 {
		o.QType = dns.TypeA
	}
	return Check{Name: "d", Type: "dns", Interval: 10 * time.Second, Timeout: timeout, Fall: 2, Rise: 3, DNS: &o}
}

// answer makes the reply to a query: an rcode and records in its answer section.
func answer(t testing.TB, packet []byte, rcode int, records ...string) *dns.Msg {
	t.Helper()
	var q dns.Msg
	if err := q.Unpack(packet); err != nil || len(q.Question) != 1 {
		t.Errorf("query %x: %v", packet, err)
		return new(dns.Msg)
	}
	m := new(dns.Msg).SetRcode(&q, rcode)
	for _, r := range records {
		rr, err := dns.NewRR(r)
		if err != nil {
			t.Error(err)
		}
		m.Answer = append(m.Answer, rr)
	}
	return m
}

func packed(t testing.TB, m *dns.Msg) []byte {
	t.Helper()
	out, err := m.Pack()
	if err != nil {
		t.Error(err)
	}
	return out
}

// framed puts the length before a message, as on a stream.
func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
}

// nameServer replies over both transports on one port: reply gets the query
// and the transport, and gives the messages to send.
func nameServer(t testing.TB, reply func(query []byte, tcp bool) [][]byte) netip.AddrPort {
	t.Helper()
	at := packetsOn(t, freeForBoth(t), func(d datagram) {
		for _, m := range reply(d.data, false) {
			d.reply(string(m))
		}
	})
	return serveOn(t, at.String(), func(c net.Conn) {
		q, _, err := readFramed(c, new(bytes.Buffer))
		if err != nil {
			return
		}
		for _, m := range reply(q, true) {
			_, _ = c.Write(framed(m))
		}
		hold(c)
	})
}

// freeForBoth finds an address whose port is free for UDP and TCP. It is an
// address of its own, where no client can have the port, but somebody may have
// it at every address.
func freeForBoth(t testing.TB) string {
	t.Helper()
	for range 20 {
		tcp, err := net.Listen("tcp", "127.53.53.53:0")
		if err != nil {
			t.Fatal(err)
		}
		address := tcp.Addr().String()
		udp, err := net.ListenPacket("udp", address)
		_ = tcp.Close()
		if err == nil {
			_ = udp.Close()
			return address
		}
	}
	t.Fatal("no port is free for UDP and TCP")
	return ""
}

func TestDNS(t *testing.T) {
	const a1, a2 = "www.example. 60 IN A 192.0.2.1", "www.example. 60 IN A 192.0.2.2"
	const alias, far = "www.example. 60 IN CNAME Far.Example.", "far.example. 60 IN A 192.0.2.9"
	for _, c := range []struct {
		about   string
		rcode   int
		records []string
		opts    DNS
		outcome Outcome
		reason  string
	}{
		{"NOERROR", 0, []string{a1}, DNS{}, Pass, ""},
		{"NOERROR without data", 0, nil, DNS{}, Pass, ""},
		{"the datum", 0, []string{a1}, DNS{Expect: []string{"192.0.2.1"}}, Pass, ""},
		{"all data", 0, []string{a2, a1}, DNS{Expect: []string{"192.0.2.1", "192.0.2.2"}}, Pass, ""},
		{"more data than wanted", 0, []string{a2, a1}, DNS{Expect: []string{"192.0.2.1"}}, Pass, ""},
		{"one datum missing", 0, []string{a2}, DNS{Expect: []string{"192.0.2.2", "192.0.2.1"}}, Fail, "answer lacks 192.0.2.1"},
		{"no data, some wanted", 0, nil, DNS{Expect: []string{"192.0.2.1"}}, Fail, "answer lacks 192.0.2.1"},
		{"through an alias", 0, []string{alias, far}, DNS{Expect: []string{"192.0.2.9"}}, Pass, ""},
		{"SERVFAIL", 2, nil, DNS{}, Fail, "rcode SERVFAIL, want NOERROR"},
		{"NXDOMAIN wanted", 3, nil, DNS{RCode: 3}, Pass, ""},
		{"NOERROR, NXDOMAIN wanted", 0, []string{a1}, DNS{RCode: 3}, Fail, "rcode NOERROR, want NXDOMAIN"},
		{"REFUSED before data", 5, nil, DNS{Expect: []string{"192.0.2.1"}}, Fail, "rcode REFUSED, want NOERROR"},
		{"a code without a name", 13, nil, DNS{}, Fail, "rcode RCODE13, want NOERROR"},
		{"a name, case and final dot do not matter", 0, []string{alias}, DNS{QType: dns.TypeCNAME, Expect: []string{"far.EXAMPLE"}}, Pass, ""},
		{"another name", 0, []string{alias}, DNS{QType: dns.TypeCNAME, Expect: []string{"near.example"}}, Fail, "answer lacks near.example"},
		{"MX", 0, []string{"www.example. 1 IN MX 10 mail.example."}, DNS{QType: dns.TypeMX, Expect: []string{"10 mail.example."}}, Pass, ""},
		{"another preference", 0, []string{"www.example. 1 IN MX 20 mail.example."}, DNS{QType: dns.TypeMX, Expect: []string{"10 mail.example."}}, Fail,
			"answer lacks 10 mail.example."},
		{"AAAA in another form", 0, []string{"www.example. 1 IN AAAA 2001:db8::1"}, DNS{QType: dns.TypeAAAA, Expect: []string{"2001:DB8:0::1"}}, Pass, ""},
		{"TXT", 0, []string{`www.example. 1 IN TXT "v=spf1 -all"`}, DNS{QType: dns.TypeTXT, Expect: []string{"v=spf1 -all"}}, Pass, ""},
		{"TXT in quotes and pieces", 0, []string{`www.example. 1 IN TXT "v=sp" "f1 -all"`}, DNS{QType: dns.TypeTXT, Expect: []string{`"v=spf1 " "-all"`}}, Pass, ""},
		{"TXT keeps its case", 0, []string{`www.example. 1 IN TXT "OK"`}, DNS{QType: dns.TypeTXT, Expect: []string{"ok"}}, Fail, "answer lacks ok"},
		{"an unknown type", 0, []string{`www.example. 1 IN TYPE65280 \# 2 ABcd`}, DNS{QType: 65280, Expect: []string{`\# 2 abCD`}}, Pass, ""},
		{"other data of an unknown type", 0, []string{`www.example. 1 IN TYPE65280 \# 2 abcd`}, DNS{QType: 65280, Expect: []string{`\# 2 0000`}}, Fail,
			`answer lacks \# 2 0000`},
	} {
		for _, tcp := range []bool{false, true} {
			t.Run(c.about+map[bool]string{true: " over tcp"}[tcp], func(t *testing.T) {
				t.Parallel()
				at := nameServer(t, func(q []byte, _ bool) [][]byte { return [][]byte{packed(t, answer(t, q, c.rcode, c.records...))} })
				o := c.opts
				o.TCP = tcp
				want(t, run(t, dnsCheck(long, o), target(at)), c.outcome, c.reason)
			})
		}
	}
}

func TestDNSQuestion(t *testing.T) {
	seen := make(chan string, 1)
	at := nameServer(t, func(q []byte, _ bool) [][]byte {
		m := answer(t, q, 0)
		seen <- strings.ToUpper(m.Question[0].Name) + dns.Type(m.Question[0].Qtype).String() + map[bool]string{true: " rd"}[m.RecursionDesired]
		m.Question[0].Name = strings.ToUpper(m.Question[0].Name) // case may change on the way
		return [][]byte{packed(t, m)}
	})
	for _, c := range []struct {
		owner string
		opts  DNS
		want  string
	}{
		{"www.example", DNS{}, "WWW.EXAMPLE.A rd"},
		{"*.example", DNS{QType: dns.TypeTXT}, "PROBE.EXAMPLE.TXT rd"},
		{"www.example", DNS{QName: "other.example", QType: dns.TypeSOA}, "OTHER.EXAMPLE.SOA rd"},
		{"", DNS{QName: ".", QType: dns.TypeNS}, ".NS rd"},
	} {
		to := target(at)
		to.Name = c.owner
		want(t, run(t, dnsCheck(long, c.opts), to), Pass, "")
		if got := <-seen; got != c.want {
			t.Errorf("asked %s, want %s", got, c.want)
		}
	}
}

func TestDNSNew(t *testing.T) {
	for _, c := range []struct {
		owner string
		opts  DNS
		want  string
	}{
		{"", DNS{}, "no name to ask for (set qname)"},
		{"a", DNS{QName: strings.Repeat("a", 64)}, `qname "` + strings.Repeat("a", 64) + `" is not a domain name`},
		{"a", DNS{Expect: []string{"192.0.2.1", "x"}}, "x is not data of type A"},
	} {
		_, err := New(dnsCheck(long, c.opts), Target{Addr: local, Name: c.owner}, false)
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestDNSUnreachable(t *testing.T) {
	want(t, run(t, dnsCheck(long, DNS{}), target(closedUDP(t))), Fail, "port unreachable")
	want(t, run(t, dnsCheck(long, DNS{TCP: true}), target(closedPort(t))), Fail, "connect: connection refused")
	silent := packets(t, func(datagram) {})
	want(t, run(t, dnsCheck(short, DNS{}), target(silent)), Fail, "no reply in 80ms")
}

// A reply that does not fit is asked for again over TCP, as a resolver does.
func TestDNSTruncated(t *testing.T) {
	cut := func(whole bool) func([]byte, bool) [][]byte {
		return func(q []byte, tcp bool) [][]byte {
			m := answer(t, q, 0, "www.example. 60 IN A 192.0.2.1")
			m.Truncated = !tcp
			out := packed(t, m)
			if !tcp && !whole {
				out = out[:len(out)-2]
			}
			return [][]byte{out}
		}
	}
	c := dnsCheck(long, DNS{Expect: []string{"192.0.2.1"}})
	for _, whole := range []bool{true, false} {
		p, err := New(c, target(nameServer(t, cut(whole))), true)
		if err != nil {
			t.Fatal(err)
		}
		r := Round(context.Background(), p, c)
		want(t, r, Pass, "")
		var steps []string
		for _, s := range r.Steps {
			steps = append(steps, s.What)
		}
		if got := strings.Join(steps, " "); got != "query reply truncated connect query reply" {
			t.Errorf("steps %s", got)
		}
		if r.Steps[0].Info != "www.example A to "+p.(*dnsProber).remote.String()+" over udp" || !strings.HasPrefix(r.Steps[5].Info, "NOERROR, 1 answer, ") {
			t.Errorf("steps %v", r.Steps)
		}
	}
	udpOnly := packets(t, func(d datagram) { d.reply(string(cut(true)(d.data, false)[0])) })
	want(t, run(t, c, target(udpOnly)), Fail, "connect: connection refused")
}

func TestDNSTCPHostile(t *testing.T) {
	for _, c := range []struct {
		about  string
		handle func(net.Conn)
		reason string
	}{
		{"silence", hold, "no reply in 80ms"},
		{"close at once", func(net.Conn) {}, "connection closed before a reply"},
		{"close after the query", then("", func(net.Conn) {}), "connection closed before a reply"},
		{"half a length", then("\x00", hold), "reply incomplete after 80ms"},
		{"half a message, closed", then("\x00\x20abc", func(net.Conn) {}), "connection closed before the end of the reply"},
		{"another protocol", then("HTTP/1.1 400 Bad Request\r\n\r\n", hold), "reply incomplete after 80ms"},
		{"trickle", trickle("\x00\x20" + strings.Repeat("x", 32)), "reply incomplete after 80ms"},
		{"empty messages", then("", endless("\x00\x00")), "more than 100 replies to other queries"},
		{"endless garbage", then("", endless("\x00\x0d")), "more than 100 replies to other queries"},
		{"a message that is none", then("\x00\x03abc", hold), "no reply in 80ms (1 ignored, not to this query)"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			want(t, run(t, dnsCheck(short, DNS{TCP: true}), target(serve(t, c.handle))), Fail, c.reason)
		})
	}
}

// The connection is reset, so that probes leave no TIME_WAIT.
func TestDNSTCPReset(t *testing.T) {
	ends := make(chan error, 1)
	at := serve(t, func(c net.Conn) {
		q, _, err := readFramed(c, new(bytes.Buffer))
		if err == nil {
			_, _ = c.Write(framed(packed(t, answer(t, q, 0))))
		}
		_, err = io.Copy(io.Discard, c)
		ends <- err
	})
	want(t, run(t, dnsCheck(long, DNS{TCP: true}), target(at)), Pass, "")
	if err := <-ends; err == nil {
		t.Error("the peer saw an orderly end, want a reset")
	}
}

func TestDNSCancelled(t *testing.T) {
	for _, tcp := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		at := nameServer(t, func([]byte, bool) [][]byte { cancel(); return nil })
		c := dnsCheck(long, DNS{TCP: tcp})
		p, err := New(c, target(at), false)
		if err != nil {
			t.Fatal(err)
		}
		want(t, Round(ctx, p, c), Fault, "cancelled")
	}
}

func BenchmarkDNS(b *testing.B) {
	at := nameServer(b, func(q []byte, _ bool) [][]byte { return [][]byte{packed(b, answer(b, q, 0))} })
	c := dnsCheck(long, DNS{})
	p, err := New(c, target(at), false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := Round(context.Background(), p, c); r.Outcome != Pass {
			b.Fatal(r.Reason)
		}
	}
}
