package answer_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
)

// check sends a packet over both transports and holds the replies against the
// reference and against what must be true of every reply.
func check(t testing.TB, s *server, f *reference, packet []byte) {
	t.Helper()
	if reply, _ := s.ask(t, packet, dnsserver.UDP); reply == nil {
		if len(packet) >= 12 && packet[2]&0x80 == 0 {
			t.Fatalf("no reply to %x", packet)
		}
		return
	}
	tcp, _ := s.ask(t, packet, dnsserver.TCP)
	q := new(dns.Msg)
	if err := q.Unpack(packet); err != nil || len(q.Question) != 1 || tcp.Rcode == dns.RcodeFormatError || tcp.Rcode == dns.RcodeNotImplemented {
		frame(t, packet, tcp)
		return
	}
	if err := same(f, q, tcp); err != nil {
		t.Fatalf("over TCP: %v\nquery %v\nreply %v", err, q, tcp)
	}
	udp, size := s.ask(t, packet, dnsserver.UDP)
	frame(t, packet, udp)
	limit := 512
	if opt := q.IsEdns0(); opt != nil {
		limit = min(max(512, int(opt.UDPSize())), 1232)
	}
	if size > limit {
		t.Fatalf("%d bytes over UDP, at most %d allowed\nquery %v", size, limit, q)
	}
	if udp.Truncated {
		if udp.Authoritative != tcp.Authoritative && tcp.Rcode != dns.RcodeServerFailure {
			t.Fatalf("AA %v with TC, %v without\nquery %v", udp.Authoritative, tcp.Authoritative, q)
		}
		if len(udp.Answer)+len(udp.Ns) > 0 || udp.IsEdns0() == nil && len(udp.Extra) > 0 || len(udp.Extra) > 1 {
			t.Fatalf("TC with records\n%v", udp)
		}
		if !large(t, s, packet, limit) {
			t.Fatalf("TC, though the answer fits %d bytes\nquery %v\nreply over TCP %v", limit, q, tcp)
		}
		return
	}
	if err := same(f, q, udp); err != nil {
		t.Fatalf("over UDP: %v\nquery %v\nreply %v", err, q, udp)
	}
}

// large tells whether some answer to packet is longer than limit; rotation may change the size.
func large(t testing.TB, s *server, packet []byte, limit int) bool {
	for range 50 {
		if _, size := s.ask(t, packet, dnsserver.TCP); size > limit {
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
	case m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeNotImplemented:
		if len(m.Question)+len(m.Answer)+len(m.Ns)+len(m.Extra) > 0 {
			t.Fatalf("records in %v", m)
		}
	}
}

// same compares a reply with the reference.
func same(f *reference, q, m *dns.Msg) error {
	if len(m.Question) != 1 || m.Question[0] != q.Question[0] {
		return fmt.Errorf("question not copied: %v", m.Question)
	}
	opt := q.IsEdns0()
	if got := m.IsEdns0(); (got == nil) != (opt == nil) {
		return fmt.Errorf("OPT %v", got)
	} else if got != nil && (got.UDPSize() != 1232 || got.Version() != 0 || got.Do() != opt.Do()) {
		return fmt.Errorf("OPT %v", got)
	}
	e := &expected{}
	question := q.Question[0]
	switch {
	case opt != nil && opt.Version() > 0:
		e.rcode = dns.RcodeBadVers
	case question.Qclass != dns.ClassINET, question.Qtype == dns.TypeAXFR, question.Qtype == dns.TypeIXFR, q.Opcode != dns.OpcodeQuery:
		e.rcode = dns.RcodeRefused
	default:
		e = f.answer(question, m)
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
