package answer_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
)

// message is a packet and what a client sees of the reply: rcode and flags as
// in a case and the number of records in the sections, or "" for silence.
type message struct {
	name, packet, want string
}

// Parts of the messages below; the question asks mail.example. A.
const (
	asksMail = "\x04mail\x07example\x00\x00\x01\x00\x01"
	bareOpt  = "\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00\x00"
	aRecord  = "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x01\x02\x03\x04"
	tsig     = "\x03key\x00\x00\xfa\x00\xff\x00\x00\x00\x00\x00\x3a\x08hmac-md5\x07sig-alg\x03reg\x03int\x00" +
		"\x00\x00\x65\x00\x00\x00\x01\x2c\x00\x10abcdefghijklmnop\x12\x67\x00\x00\x00\x00"
	sig0 = "\x00\x00\x18\x00\xff\x00\x00\x00\x00\x00\x17\x00\x00\x0d\x00\x00\x00\x00\x00\x7f\x00\x00\x00\x01\x00\x00\x00\x04\xd2\x00abcd"
)

const (
	found   = "NOERROR aa, question 1, answer 1"
	foundE  = "NOERROR aa edns, question 1, answer 1, additional 1"
	formerr = "FORMERR, question 0"
	refused = "REFUSED, question 1"
)

// packet makes a message of two octets of flags, the counts and what follows.
func packet(flags uint16, counts [4]uint16, rest ...string) string {
	b := binary.BigEndian.AppendUint16([]byte{0x12, 0x67}, flags)
	for _, n := range counts {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return string(b) + strings.Join(rest, "")
}

// headers are messages that differ in header and question (RFC 1035 §4.1).
func headers() []message {
	one, none := [4]uint16{1}, [4]uint16{}
	return []message{
		{"query", packet(0, one, asksMail), found},
		{"RD is copied", packet(0x0100, one, asksMail), "NOERROR aa rd, question 1, answer 1"},
		{"AD, CD and Z are not", packet(0x0070, one, asksMail), found},
		{"AA, TC, RA and an rcode in a query mean nothing", packet(0x068f, one, asksMail), found},
		{"a reply", packet(0x8000, one, asksMail), ""},
		{"a reply with an error", packet(0x8001, none), ""},
		{"a reply to a NOTIFY", packet(0xa000, one, asksMail), ""},
		{"a reply with no question", packet(0x8000, none), ""},
		{"nothing", "", ""},
		{"a header short of an octet", packet(0, one)[:11], ""},
		{"no question (RFC 9619)", packet(0, none), formerr},
		{"no question but bytes", packet(0, none, asksMail), formerr},
		{"no question, with EDNS (a cookie alone is not supported)", packet(0, [4]uint16{0, 0, 0, 1}, bareOpt), formerr},
		{"two questions (RFC 9619)", packet(0, [4]uint16{2}, asksMail, asksMail), formerr},
		{"65,535 questions", packet(0, [4]uint16{65535}, asksMail), formerr},
		{"a header alone", packet(0, one), formerr},
		{"a trailing byte", packet(0, one, asksMail, "\x00"), formerr},
		{"a second question that is not counted", packet(0, one, asksMail, asksMail), formerr},
		{"a pointer for a question's name", packet(0, one, "\xc0\x0c\x00\x01\x00\x01"), formerr},
		{"a pointer to a label of the header", packet(0, one, "\xc0\x04\x00\x01\x00\x01"), formerr},
		{"a pointer at the end of a question's name", packet(0, one, "\x04mail\xc0\x0c\x00\x01\x00\x01"), formerr},
		{"a pointer beyond the end", packet(0, one, "\x04mail\xff\xff\x00\x01\x00\x01"), formerr},
		{"a label of 64 octets", packet(0, one, "\x40"+strings.Repeat("a", 64)+"\x00\x00\x01\x00\x01"), formerr},
		{"a label of the type 10", packet(0, one, "\x80\x01a\x00\x00\x01\x00\x01"), formerr},
		{"a name of 256 octets", packet(0, one, strings.Repeat("\x01a", 127)+"\x01a\x00\x00\x01\x00\x01"), formerr},
		{"class ANY", packet(0, one, asksMail[:len(asksMail)-2], "\x00\xff"), refused},
		{"class NONE", packet(0, one, asksMail[:len(asksMail)-2], "\x00\xfe"), refused},
		{"class HS", packet(0, one, asksMail[:len(asksMail)-2], "\x00\x04"), refused},
		{"class 0", packet(0, one, asksMail[:len(asksMail)-2], "\x00\x00"), refused},
		{"type 0", packet(0, one, asksMail[:len(asksMail)-4], "\x00\x00\x00\x01"), "NOERROR aa, question 1, authority 1"},
		{"type OPT", packet(0, one, asksMail[:len(asksMail)-4], "\x00\x29\x00\x01"), "NOERROR aa, question 1, authority 1"},
		{"type TSIG", packet(0, one, asksMail[:len(asksMail)-4], "\x00\xfa\x00\x01"), "NOERROR aa, question 1, authority 1"},
		{"type MAILB", packet(0, one, asksMail[:len(asksMail)-4], "\x00\xfd\x00\x01"), "NOERROR aa, question 1, authority 1"},
		{"type 65535", packet(0, one, asksMail[:len(asksMail)-4], "\xff\xff\x00\x01"), "NOERROR aa, question 1, authority 1"},
	}
}

// sections are queries with records behind the question.
func sections() []message {
	additional := [4]uint16{1, 0, 0, 1}
	return []message{
		{"records in every section are passed over", packet(0, [4]uint16{1, 1, 1, 1}, asksMail, aRecord, aRecord, aRecord), found},
		{"a record that is not there", packet(0, additional, asksMail), formerr},
		{"a record cut short", packet(0, additional, asksMail, aRecord[:15]), formerr},
		{"65,535 records", packet(0, [4]uint16{1, 65535, 65535, 65535}, asksMail, aRecord), formerr},
		{"TSIG is passed over", packet(0, additional, asksMail, tsig), found},
		{"OPT and TSIG", packet(0, [4]uint16{1, 0, 0, 2}, asksMail, bareOpt, tsig), foundE},
		{"SIG(0) is passed over", packet(0, additional, asksMail, sig0), found},
		{"OPT and SIG(0)", packet(0, [4]uint16{1, 0, 0, 2}, asksMail, bareOpt, sig0), foundE},
		{"OPT behind other records", packet(0, [4]uint16{1, 0, 0, 3}, asksMail, aRecord, aRecord, bareOpt), foundE},
		{"two OPT (RFC 6891 §6.1.1)", packet(0, [4]uint16{1, 0, 0, 2}, asksMail, bareOpt, bareOpt), formerr},
		{"two OPT with a record between", packet(0, [4]uint16{1, 0, 0, 3}, asksMail, bareOpt, aRecord, bareOpt), formerr},
		{"OPT among the answers", packet(0, [4]uint16{1, 1, 0, 0}, asksMail, bareOpt), formerr},
		{"OPT in the authority section", packet(0, [4]uint16{1, 0, 1, 0}, asksMail, bareOpt), formerr},
		{"OPT in authority and additional", packet(0, [4]uint16{1, 0, 1, 1}, asksMail, bareOpt, bareOpt), formerr},
		{"OPT with a name", packet(0, additional, asksMail, "\x01a", bareOpt), formerr},
		{"OPT with a pointer to the root", packet(0, additional, asksMail, "\xc0\x19", bareOpt[1:]), formerr},
		{"an option without its data", packet(0, additional, asksMail, bareOpt[:9], "\x00\x04\xfd\xe9\x00\x01"), formerr},
		{"three octets of an option", packet(0, additional, asksMail, bareOpt[:9], "\x00\x03\xfd\xe9\x00"), formerr},
		{"an unknown option (RFC 6891 §6.1.2)", packet(0, additional, asksMail, bareOpt[:9], "\x00\x06\xfd\xe9\x00\x02ab"), foundE},
		{"an unknown option twice", packet(0, additional, asksMail, bareOpt[:9], "\x00\x08\xfd\xe9\x00\x00\xfd\xe9\x00\x00"), foundE},
		{"Z bits of OPT are not copied", packet(0, additional, asksMail, "\x00\x00\x29\x10\x00\x00\x00\x7f\xff\x00\x00"), foundE},
		{"an extended rcode in a query means nothing", packet(0, additional, asksMail, "\x00\x00\x29\x10\x00\xff\x00\x00\x00\x00\x00"), foundE},
	}
}

// opcodes are queries of every opcode (RFC 6895 §2.2).
func opcodes() (list []message) {
	for op := range uint16(16) {
		want := "NOTIMP, question 0"
		switch op {
		case dns.OpcodeQuery:
			want = found
		case dns.OpcodeNotify:
			want = refused
		}
		list = append(list, message{fmt.Sprintf("opcode %d", op), packet(op<<11, [4]uint16{1}, asksMail), want})
		if want != found && want != refused {
			list = append(list, message{fmt.Sprintf("opcode %d, rubbish", op), packet(op<<11, [4]uint16{9, 9, 9, 9}, "\xff"), want})
		}
	}
	return list
}

// versions are queries of every EDNS version but 0 (RFC 6891 §6.1.3), whatever they ask.
func versions() (list []message) {
	for v := 1; v < 256; v++ {
		opt := "\x00\x00\x29\x10\x00\x00" + string([]byte{byte(v)}) + "\x80\x00\x00\x00"
		for _, question := range []string{asksMail, "\x00\x00\x01\x00\x03"} {
			list = append(list, message{fmt.Sprintf("EDNS version %d", v), packet(0, [4]uint16{1, 0, 0, 1}, question, opt), "BADVERS edns do, question 1, additional 1"})
		}
	}
	return list
}

// TestMessages sends packets that a library would not make.
func TestMessages(t *testing.T) {
	s := rich(t)
	for _, list := range [][]message{headers(), sections(), opcodes(), versions()} {
		for _, c := range list {
			for _, transport := range []dnsserver.Transport{dnsserver.UDP, dnsserver.TCP} {
				if got := seen(t, s, c.packet, transport); got != c.want {
					t.Errorf("%s over %v: %q, want %q", c.name, transport, got, c.want)
				}
			}
		}
	}
}

// seen gives what a client sees of a reply, and holds id, opcode and OPT to the query.
func seen(t *testing.T, s *server, packet string, transport dnsserver.Transport) string {
	t.Helper()
	reply := s.Respond(nil, []byte(packet), netip.AddrPort{}, transport)
	if len(reply) == 0 {
		return ""
	}
	m := new(dns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatalf("%x: %v", reply, err)
	}
	if m.Id != 0x1267 || !m.Response || m.Zero || m.Opcode != int(packet[2]>>3&15) {
		t.Errorf("%x: header %+v", packet, m.MsgHdr)
	}
	if opt := m.IsEdns0(); opt != nil && (opt.Version() != 0 || opt.UDPSize() != 1232 || opt.Hdr.Ttl&0x7fff != 0) {
		t.Errorf("%x: OPT %v", packet, opt)
	}
	got := fmt.Sprintf("%s, question %d", flags(m), len(m.Question))
	for i, section := range [][]dns.RR{m.Answer, m.Ns, m.Extra} {
		if len(section) > 0 {
			got += fmt.Sprintf(", %s %d", []string{"answer", "authority", "additional"}[i], len(section))
		}
	}
	return got
}

// TestAnnouncedSizes asks for an answer of 2091 bytes with every size that a client may announce.
func TestAnnouncedSizes(t *testing.T) {
	s := rich(t)
	for size, limit := range map[int]int{0: 512, 1: 512, 511: 512, 512: 512, 513: 513, 1231: 1231, 1232: 1232, 1233: 1232, 4096: 1232, 65535: 1232} {
		for _, name := range []string{"big", "mid", "many", "roomy"} {
			ask := fmt.Sprintf("%s.example. A +edns=%d", name, size)
			if name == "mid" {
				ask = fmt.Sprintf("mid.example. TXT +edns=%d", size)
			}
			udp, short := s.ask(t, query(t, ask), dnsserver.UDP)
			tcp, long := s.ask(t, query(t, ask), dnsserver.TCP)
			n, whole := len(short), len(long)
			if n > limit || tcp.Truncated || whole <= limit && udp.Truncated {
				t.Errorf("%s: %d bytes over UDP, TC %v; %d over TCP, TC %v", ask, n, udp.Truncated, whole, tcp.Truncated)
			}
			if udp.Truncated && (n > 12+len(name)+9+4+2+11 || udp.IsEdns0() == nil) {
				t.Errorf("%s: TC with %d bytes, OPT %v", ask, n, udp.IsEdns0())
			}
		}
	}
}
