package probe

import (
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// Replies to other questions decide nothing, whatever they say.
func TestDNSForgedReplies(t *testing.T) {
	edit := func(change func(*dns.Msg)) func([]byte) []byte {
		return func(q []byte) []byte {
			m := answer(t, q, dns.RcodeServerFailure)
			change(m)
			return packed(t, m)
		}
	}
	query := func(q []byte) []byte { return q }
	forged := map[string]func([]byte) []byte{
		"another id":            edit(func(m *dns.Msg) { m.Id ^= 1 }),
		"another name":          edit(func(m *dns.Msg) { m.Question[0].Name = "other.example." }),
		"another type":          edit(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAAAA }),
		"another class":         edit(func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }),
		"two questions":         edit(func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }),
		"another opcode":        edit(func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }),
		"the query itself":      query,
		"no question, no error": edit(func(m *dns.Msg) { m.Question, m.Rcode = nil, dns.RcodeSuccess }),
		"no question, NXDOMAIN": edit(func(m *dns.Msg) { m.Question, m.Rcode = nil, dns.RcodeNameError }),
		"nothing":               func([]byte) []byte { return nil },
		"garbage":               func([]byte) []byte { return []byte("SSH-2.0-OpenSSH_9.9\r\n") },
		"half a header":         func(q []byte) []byte { return q[:11] },
	}
	for about, forge := range forged {
		for _, tcp := range []bool{false, true} {
			t.Run(about+map[bool]string{true: " over tcp"}[tcp], func(t *testing.T) {
				t.Parallel()
				alone := nameServer(t, func(q []byte, _ bool) [][]byte { return [][]byte{forge(q), forge(q)} })
				got := run(t, dnsCheck(short, DNS{TCP: tcp}), target(alone))
				want(t, got, Fail, "no reply in 80ms (2 ignored, not to this query)")
				first := nameServer(t, func(q []byte, _ bool) [][]byte {
					return [][]byte{forge(q), packed(t, answer(t, q, 0, "www.example. 1 IN A 192.0.2.1"))}
				})
				want(t, run(t, dnsCheck(long, DNS{TCP: tcp, Expect: []string{"192.0.2.1"}}), target(first)), Pass, "")
			})
		}
	}
}

func TestDNSFlood(t *testing.T) {
	at := nameServer(t, func(q []byte, _ bool) [][]byte {
		var all [][]byte
		for range maxStrays + 1 {
			all = append(all, []byte("noise"))
		}
		return all
	})
	want(t, run(t, dnsCheck(long, DNS{TCP: true}), target(at)), Fail, "more than 100 replies to other queries")
	want(t, run(t, dnsCheck(long, DNS{}), target(at)), Fail, "more than 100 replies to other queries")
}

// A server that could not read the query may repeat no question.
func TestDNSErrorWithoutQuestion(t *testing.T) {
	at := nameServer(t, func(q []byte, _ bool) [][]byte {
		m := answer(t, q, dns.RcodeFormatError)
		m.Question = nil
		return [][]byte{packed(t, m)}
	})
	want(t, run(t, dnsCheck(long, DNS{}), target(at)), Fail, "rcode FORMERR, want NOERROR")
}

func TestDNSMalformed(t *testing.T) {
	for about, spoil := range map[string]func([]byte) []byte{
		"cut":                  func(m []byte) []byte { return m[:len(m)-3] },
		"records that are not": func(m []byte) []byte { m[len(m)-6] = 9; return m },
		"a pointer to itself":  func(m []byte) []byte { m[12], m[13] = 0xc0, 12; return m },
	} {
		at := nameServer(t, func(q []byte, _ bool) [][]byte {
			return [][]byte{spoil(packed(t, answer(t, q, 0, "www.example. 1 IN A 192.0.2.1")))}
		})
		t.Log(about)
		want(t, run(t, dnsCheck(long, DNS{}), target(at)), Fail, "reply is malformed")
		want(t, run(t, dnsCheck(long, DNS{TCP: true}), target(at)), Fail, "reply is malformed")
	}
}

// A reply that ends before the records that its header announces is malformed,
// and so is one over TCP that is cut: it would pass on its rcode alone.
func TestDNSIncompleteReply(t *testing.T) {
	serverOf := func(spoil func([]byte) []byte) netip.AddrPort {
		return nameServer(t, func(q []byte, _ bool) [][]byte { return [][]byte{spoil(packed(t, answer(t, q, 0)))} })
	}
	early := serverOf(func(b []byte) []byte { b[6], b[7] = 0xff, 0xff; return b })
	want(t, run(t, dnsCheck(long, DNS{}), target(early)), Fail, "reply is malformed")
	want(t, run(t, dnsCheck(long, DNS{TCP: true}), target(early)), Fail, "reply is malformed")
	cut := serverOf(func(b []byte) []byte { b[2] |= 2; b[7] = 1; return append(b, 0xc0) })
	want(t, run(t, dnsCheck(long, DNS{}), target(cut)), Fail, "reply is malformed") // by that over TCP
	want(t, run(t, dnsCheck(long, DNS{TCP: true}), target(cut)), Fail, "reply is malformed")
	cutEarly := serverOf(func(b []byte) []byte { b[2] |= 2; b[7] = 1; return b })
	want(t, run(t, dnsCheck(long, DNS{TCP: true}), target(cutEarly)), Fail, "reply is malformed")
}

// Floods cost no more memory than their bounds, over either transport.
func TestDNSMemory(t *testing.T) {
	noise := []byte(strings.Repeat("noise", 12000))
	stream := framed(noise)
	datagrams := packets(t, func(d datagram) {
		for range maxStrays + 1 {
			_, _ = d.conn.WriteToUDPAddrPort(noise, d.from)
		}
	})
	flood := serve(t, then("", func(c net.Conn) {
		for range maxStrays + 1 {
			_, _ = c.Write(stream)
		}
		hold(c)
	}))
	announced := serve(t, then("\xff\xff", hold))
	for _, c := range []struct {
		about string
		check Check
		at    netip.AddrPort
		limit uint64
	}{
		{"udp", dnsCheck(short, DNS{}), datagrams, 64 << 10},
		{"tcp", dnsCheck(long, DNS{TCP: true}), flood, 512 << 10},
		{"announced and not sent", dnsCheck(short, DNS{TCP: true}), announced, 64 << 10},
	} {
		run(t, c.check, target(c.at))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 3 {
			run(t, c.check, target(c.at))
		}
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) / 3; used > c.limit {
			t.Errorf("%s: %d bytes for one probe", c.about, used)
		}
	}
}

// A long answer over TCP is read whole.
func TestDNSLongReply(t *testing.T) {
	at := nameServer(t, func(q []byte, _ bool) [][]byte {
		m := answer(t, q, 0)
		for range 250 {
			m.Answer = append(m.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: "www.example.", Rrtype: dns.TypeTXT, Class: dns.ClassINET},
				Txt: []string{strings.Repeat("x", 200)}})
		}
		m.Answer = append(m.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: "www.example.", Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{"last"}})
		return [][]byte{packed(t, m)}
	})
	c := dnsCheck(long, DNS{TCP: true, QType: dns.TypeTXT, Expect: []string{"last"}})
	want(t, run(t, c, target(at)), Pass, "")
}

// Whatever a server sends, a reply is judged or passed over.
func FuzzDNSReply(f *testing.F) {
	p, err := New(dnsCheck(long, DNS{Expect: []string{"192.0.2.1"}}), Target{Addr: local, Name: "www.example"}, false)
	if err != nil {
		f.Fatal(err)
	}
	prober := p.(*dnsProber)
	query := prober.query
	packet := packed(f, &query)
	f.Add(packed(f, answer(f, packet, 0, "www.example. 1 IN A 192.0.2.1")))
	f.Add(packed(f, answer(f, packet, 2)))
	f.Add(packet)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, stream := range []bool{false, true} {
			reply, failure := answerTo(&query, data, stream)
			if reply != nil && failure != nil {
				t.Error("both a reply and a failure")
			}
			if reply != nil {
				prober.judge(reply)
			}
		}
	})
}
