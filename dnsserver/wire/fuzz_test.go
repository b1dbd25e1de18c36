package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// summary tells of a message what its header and OPT say.
func summary(m *dns.Msg) string {
	rcode := dns.RcodeToString[m.Rcode]
	if m.Rcode == dns.RcodeBadVers {
		rcode = "BADVERS"
	}
	s := rcode
	for _, f := range []struct {
		on   bool
		name string
	}{{m.Response, " qr"}, {m.Authoritative, " aa"}, {m.Truncated, " tc"}, {m.RecursionDesired, " rd"},
		{m.RecursionAvailable, " ra"}, {m.AuthenticatedData, " ad"}, {m.CheckingDisabled, " cd"}, {m.Zero, " z"}} {
		if f.on {
			s += f.name
		}
	}
	s += fmt.Sprintf(";%d %d %d %d", len(m.Question), len(m.Answer), len(m.Ns), len(m.Extra))
	if opt := m.IsEdns0(); opt != nil {
		s += fmt.Sprintf(" size %d version %d do %v", opt.UDPSize(), opt.Version(), opt.Do())
		for _, o := range opt.Option {
			if e, ok := o.(*dns.EDNS0_EDE); ok {
				s += fmt.Sprintf(" ede %d", e.InfoCode)
			}
		}
	}
	return s
}

// FuzzParse holds Parse against the library. The library is stricter about the
// data of records and laxer about trailing bytes, pointers in the question and OPT, so each direction has
// its conditions.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", header(1, 0, 0, 0), header(1, 0, 0, 0) + question, header(1, 0, 0, 1) + question + opt, header(1, 1, 1, 2) + question + record + record + record + opt,
		header(1, 0, 0, 2) + question + opt + opt, header(1, 0, 0, 0) + "\xc0\x0c\x00\x01\x00\x01", header(1, 0, 0, 0) + strings.Repeat("\x01x", 127) + "\x00\x00\x01\x00\x01",
		header(1, 0, 0, 1) + question + opt[:9] + "\x00\x08\x00\x0a\x00\x04abcd", header(0, 0, 0, 1) + opt[:9] + "\x00\x0c\x00\x0a\x00\x08abcdefgh",
		header(1, 0, 0, 1) + question + opt[:9] + "\x00\x0b\x00\x08\x00\x07\x00\x01\x18\x00\xc0\x00\x02",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		var q Query
		outcome := Parse(packet, &q)
		var m dns.Msg
		err := m.Unpack(packet)
		switch {
		case len(packet) < HeaderSize || packet[2]&0x80 != 0:
			if outcome != Drop {
				t.Fatalf("outcome %d, want Drop", outcome)
			}
		case packet[2]>>3&15 != OpQuery && packet[2]>>3&15 != OpNotify:
			if outcome != NotImp {
				t.Fatalf("outcome %d, want NotImp", outcome)
			}
		case outcome == OK:
			agree(t, packet, &q, &m, err)
		case outcome != FormErr:
			t.Fatalf("outcome %d", outcome)
		case err == nil && plainQuery(packet, &m):
			t.Fatalf("FORMERR for %v", &m)
		}
	})
}

// agree checks what Parse read against the library.
func agree(t *testing.T, packet []byte, q *Query, m *dns.Msg, err error) {
	if len(m.Question) != 1 {
		if len(packet) < HeaderSize || packet[4] != 0 || packet[5] != 0 || q.EDNS.Has&HasCookie == 0 || q.End != HeaderSize {
			t.Fatalf("%d questions", len(m.Question))
		}
		return
	}
	name := make([]byte, 300)
	n, packErr := dns.PackDomainName(m.Question[0].Name, name, 0, nil, false)
	for i := range name[:n] {
		name[i] = Lower(name[i])
	}
	if packErr != nil || !bytes.Equal(name[:n], q.Name.Wire) {
		t.Fatalf("name %q, want %q", q.Name.Wire, name[:n])
	}
	if uint16(q.Echo>>16) != m.Id || q.Echo&flagRD != 0 != m.RecursionDesired || q.Type != m.Question[0].Qtype || q.Class != m.Question[0].Qclass || int(q.Opcode()) != m.Opcode {
		t.Fatalf("%+v, want %v", q, m)
	}
	if err != nil {
		return // records whose data the library does not like
	}
	opt := m.IsEdns0()
	if (opt != nil) != q.EDNS.Present {
		t.Fatalf("EDNS %v, want %v", q.EDNS, opt)
	}
	if opt != nil && (opt.UDPSize() != q.EDNS.Size || opt.Version() != q.EDNS.Version || opt.Do() != q.EDNS.DO) {
		t.Fatalf("EDNS %v, want %v", q.EDNS, opt)
	}
	if q.End > len(packet) {
		t.Fatal("question ends behind the packet")
	}
}

// plainQuery tells whether a message that the library accepts is one that
// nobody could call malformed: packing it again gives the same bytes.
func plainQuery(packet []byte, m *dns.Msg) bool {
	opts := 0
	for _, rr := range m.Extra {
		if rr.Header().Rrtype == dns.TypeOPT {
			opts++
		}
	}
	if len(m.Question) != 1 || opts > 1 || len(m.Answer)+len(m.Ns) > 0 || len(m.Extra) > opts {
		return false
	}
	again, err := m.Pack()
	return err == nil && bytes.Equal(again, packet)
}
