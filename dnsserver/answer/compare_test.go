package answer_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
)

// check sends a packet over each transport and holds the replies against the
// reference and against what must be true of every reply.
func check(t testing.TB, s *server, f *reference, packet []byte) {
	t.Helper()
	if reply, _ := s.ask(t, packet, dnsserver.UDP); reply == nil {
		if len(packet) >= 12 && packet[2]&0x80 == 0 {
			t.Fatalf("no reply to %x", packet)
		}
		return
	}
	q := new(dns.Msg)
	readable := q.Unpack(packet) == nil && len(q.Question) <= 1
	var whole *dns.Msg // what TCP gives, where a keepalive option may be malformed that means nothing over UDP
	comparable := func() bool { return readable && !options(f.server.set, packet, dnsserver.TCP).malformed }
	for _, transport := range []dnsserver.Transport{dnsserver.TCP, dnsserver.UDP, dnsserver.TLS} {
		m, reply := s.ask(t, packet, transport)
		if whole == nil {
			whole = m
		}
		if m.Truncated && m.Authoritative != whole.Authoritative && whole.Rcode != dns.RcodeServerFailure && comparable() {
			t.Fatalf("AA %v with TC, %v without\nquery %v", m.Authoritative, whole.Authoritative, q)
		}
		frame(t, packet, m)
		bare := m.Rcode == dns.RcodeNotImplemented || m.Rcode == dns.RcodeFormatError && len(m.Question)+len(m.Extra) == 0
		if !readable || bare {
			continue
		}
		if err := right(f, q, m, packet, reply, transport); err != nil {
			t.Fatalf("over %v: %v\nquery %v\nreply %v", transport, err, q, m)
		}
		if limit := limitOf(f, q, packet, transport); m.Truncated && comparable() && !large(t, s, packet, limit) {
			t.Fatalf("TC, though the answer fits %d bytes\nquery %v", limit, q)
		}
	}
}

// right compares one reply with what it must be.
func right(f *reference, q, m *dns.Msg, packet, reply []byte, transport dnsserver.Transport) error {
	limit, e := limitOf(f, q, packet, transport), options(f.server.set, packet, transport)
	if len(reply) > limit {
		return fmt.Errorf("%d bytes, at most %d allowed", len(reply), limit)
	}
	if e.malformed {
		if m.Rcode != dns.RcodeFormatError || m.Authoritative || m.Truncated {
			return fmt.Errorf("not FORMERR")
		}
		return sameOptions(e, reply, limit)
	}
	if q.IsEdns0() != nil {
		if err := sameOptions(e, reply, limit); err != nil {
			return err
		}
	}
	if m.Truncated {
		if len(m.Answer)+len(m.Ns) > 0 || m.IsEdns0() == nil && len(m.Extra) > 0 || len(m.Extra) > 1 {
			return fmt.Errorf("TC with records")
		}
		return nil
	}
	return same(f, q, m, e)
}

// limitOf gives the longest reply to a query.
func limitOf(f *reference, q *dns.Msg, packet []byte, transport dnsserver.Transport) int {
	opt, set := q.IsEdns0(), f.server.set
	switch {
	case transport != dnsserver.UDP:
		return 65535
	case opt == nil:
		return 512
	case set.UDPSizeWithoutCookie > 0 && !options(set, packet, transport).validCookie:
		set.UDPSize = min(set.UDPSize, set.UDPSizeWithoutCookie)
	}
	return min(max(512, int(opt.UDPSize())), set.UDPSize)
}

// large tells whether some answer to packet is longer than limit; rotation may
// change the size. Options that UDP has not, or need not have, do not count.
func large(t testing.TB, s *server, packet []byte, limit int) bool {
	for range 50 {
		_, reply := s.ask(t, packet, dnsserver.TCP)
		size := len(reply)
		list, _ := rawOptions(reply)
		for _, o := range list {
			if o.code == dns.EDNS0NSID || o.code == dns.EDNS0TCPKEEPALIVE {
				size -= o.size()
			}
		}
		if size > limit {
			return true
		}
	}
	return false
}

// frame checks what every reply has in common.
func frame(t testing.TB, packet []byte, m *dns.Msg) {
	t.Helper()
	flags := binary.BigEndian.Uint16(packet[2:])
	switch {
	case m.Id != binary.BigEndian.Uint16(packet):
		t.Fatal("another id")
	case !m.Response, m.Opcode != int(flags>>11&15), m.RecursionDesired != (flags>>8&1 == 1):
		t.Fatalf("QR, opcode or RD wrong: %v", m)
	case m.RecursionAvailable, m.AuthenticatedData, m.CheckingDisabled, m.Zero:
		t.Fatalf("RA, AD, CD or Z set: %v", m)
	case m.Rcode == dns.RcodeNotImplemented:
		if len(m.Question)+len(m.Answer)+len(m.Ns)+len(m.Extra) > 0 {
			t.Fatalf("records in %v", m)
		}
	case m.Rcode == dns.RcodeFormatError: // nothing, or where an option was malformed, question and OPT
		if len(m.Answer)+len(m.Ns) > 0 || len(m.Extra) > 0 && (len(m.Extra) > 1 || m.IsEdns0() == nil || len(m.IsEdns0().Option) > 0) {
			t.Fatalf("records in %v", m)
		}
	}
}

// unusual gives the reply to what no zone answers; nil for the rest.
func unusual(set dnsserver.Settings, q *dns.Msg, o expectedOptions) *expected {
	question := dns.Question{Qclass: dns.ClassINET}
	if len(q.Question) > 0 {
		question = q.Question[0]
	}
	opt, chaos := q.IsEdns0(), map[string]string{"version.bind.": set.Version, "version.server.": set.Version, "hostname.bind.": set.Hostname, "id.server.": set.ID}
	text := chaos[strings.ToLower(question.Name)]
	switch {
	case opt != nil && opt.Version() > 0:
		return &expected{rcode: dns.RcodeBadVers}
	case q.Opcode != dns.OpcodeQuery:
		return &expected{rcode: dns.RcodeRefused}
	case len(q.Question) == 0 && o.serverCookie && !o.validCookie:
		return &expected{rcode: dns.RcodeBadCookie}
	case len(q.Question) == 0:
		return &expected{}
	case question.Qclass == dns.ClassCHAOS && question.Qtype == dns.TypeTXT && text != "":
		hdr := dns.RR_Header{Name: question.Name, Rrtype: dns.TypeTXT, Class: dns.ClassCHAOS}
		return &expected{aa: true, answer: []part{{[]dns.RR{&dns.TXT{Hdr: hdr, Txt: []string{text}}}, 1}}}
	case question.Qclass == dns.ClassCHAOS && question.Qtype == dns.TypeTXT:
		return &expected{rcode: dns.RcodeRefused}
	case question.Qclass != dns.ClassINET, question.Qtype == dns.TypeANY && set.RefuseANY:
		return &expected{rcode: dns.RcodeRefused, ede: 21}
	case question.Qtype == dns.TypeAXFR, question.Qtype == dns.TypeIXFR:
		return &expected{rcode: dns.RcodeRefused, ede: 18}
	}
	return nil
}

// same compares a reply with the reference.
func same(f *reference, q, m *dns.Msg, o expectedOptions) error {
	if len(m.Question) != len(q.Question) || len(q.Question) == 1 && m.Question[0] != q.Question[0] {
		return fmt.Errorf("question not copied: %v", m.Question)
	}
	opt, ede := q.IsEdns0(), 0
	if got := m.IsEdns0(); (got == nil) != (opt == nil) {
		return fmt.Errorf("OPT %v", got)
	} else if got != nil {
		if int(got.UDPSize()) != f.server.set.UDPSize || got.Version() != 0 || got.Do() != opt.Do() {
			return fmt.Errorf("OPT %v", got)
		}
		for _, option := range got.Option {
			if e, ok := option.(*dns.EDNS0_EDE); ok {
				ede = int(e.InfoCode)
			}
		}
	}
	e := unusual(f.server.set, q, o)
	if e == nil {
		e = f.answer(q.Question[0], m)
	}
	if opt != nil && ede != e.ede {
		return fmt.Errorf("extended error %d, want %d", ede, e.ede)
	}
	if m.Rcode != e.rcode || m.Authoritative != e.aa {
		return fmt.Errorf("rcode %d, AA %v; want %d, %v", m.Rcode, m.Authoritative, e.rcode, e.aa)
	}
	extra := m.Extra
	if opt != nil {
		extra = extra[:len(extra)-1]
	}
	if rest, err := parts(m.Answer, e.answer, false); err != nil || len(rest) > 0 {
		return fmt.Errorf("answer: %v, unexpected %v", err, rest)
	}
	if rest, err := parts(m.Ns, e.authority, false); err != nil || len(rest) > 0 {
		return fmt.Errorf("authority: %v, unexpected %v", err, rest)
	}
	rest, err := parts(extra, e.must, false)
	if err == nil {
		rest, err = parts(rest, e.optional, true)
	}
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("additional: %v, unexpected %v", err, rest)
	}
	return nil
}

// parts matches records with the parts wanted and gives those left over.
func parts(rrs []dns.RR, want []part, optional bool) ([]dns.RR, error) {
	for _, p := range want {
		if len(rrs) < p.n || !within(rrs[:p.n], p.rrs) {
			if optional {
				continue
			}
			return rrs, fmt.Errorf("%v is not %d of %v", rrs, p.n, p.rrs)
		}
		rrs = rrs[p.n:]
	}
	return rrs, nil
}

// within tells whether every record is one of the candidates, each once.
func within(rrs, candidates []dns.RR) bool {
	left := map[string]int{}
	for _, rr := range candidates {
		left[plain(rr)]++
	}
	for _, rr := range rrs {
		if left[plain(rr)]--; left[plain(rr)] < 0 {
			return false
		}
	}
	return true
}

// plain is a record as text for comparison: lower case.
func plain(rr dns.RR) string { return strings.ToLower(text(rr)) }

// text is a record as text, in the form that unpacking gives it.
func text(rr dns.RR) string {
	b := make([]byte, dns.Len(rr)+dns.Len(rr)/2+16)
	n, err := dns.PackRR(rr, b, 0, nil, false)
	if err != nil {
		return err.Error()
	}
	unpacked, _, err := dns.UnpackRR(b[:n], 0)
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(unpacked.String(), "\t", " ")
}
