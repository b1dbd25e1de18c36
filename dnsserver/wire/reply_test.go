package wire

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestClose(t *testing.T) {
	edns := EDNS{Present: true, DO: true, Size: 4096}
	for _, c := range []struct {
		name  string
		query Query
		head  Header
		want  string // header line of the library, then OPT
	}{
		{"plain", Query{Echo: 7 << 16}, Header{AA: true, Answer: 1}, "NOERROR qr aa;1 1 0 0"},
		{"recursion desired", Query{Echo: flagRD}, Header{}, "NOERROR qr rd;1 0 0 0"},
		{"truncated", Query{}, Header{AA: true, TC: true}, "NOERROR qr aa tc;1 0 0 0"},
		{"counts", Query{}, Header{RCode: NXDomain, Answer: 3, Authority: 300, Additional: 5}, "NXDOMAIN qr;1 3 300 5"},
		{"edns", Query{EDNS: edns}, Header{}, "NOERROR qr;1 0 0 1 size 1232 version 0 do true"},
		{"no DO", Query{EDNS: EDNS{Present: true}}, Header{Additional: 2}, "NOERROR qr;1 0 0 3 size 1232 version 0 do false"},
		{"badvers", Query{EDNS: edns}, Header{RCode: BadVers}, "BADVERS qr;1 0 0 1 size 1232 version 0 do true"},
		{"extended error", Query{EDNS: edns}, Header{RCode: Refused, ExtendedError: NotAuthoritative}, "REFUSED qr;1 0 0 1 size 1232 version 0 do true ede 20"},
		{"extended error without edns", Query{}, Header{RCode: Refused, ExtendedError: NotAuthoritative}, "REFUSED qr;1 0 0 0"},
	} {
		packet := []byte(header(1, 0, 0, 0) + question)
		c.query.End = len(packet)
		msg := Open(nil, packet, &c.query)
		before := len(msg)
		msg = append(msg, strings.Repeat(record, int(c.head.Answer+c.head.Authority+c.head.Additional))...)
		body := len(msg)
		msg = Close(msg, &c.query, &c.head, 1232, nil)
		var m dns.Msg
		if err := m.Unpack(msg); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := summary(&m); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if m.Question[0].Name != "wWw.eXample." || string(msg[HeaderSize:before]) != question {
			t.Errorf("%s: question not copied", c.name)
		}
		if c.query.EDNS.Present && len(msg)-body != c.query.OptSize()+c.head.ErrorSize() {
			t.Errorf("%s: OptSize %d, OPT is %d bytes", c.name, c.query.OptSize(), len(msg)-body)
		}
	}
}

func TestBare(t *testing.T) {
	msg := Bare([]byte{}, &Query{Echo: 0xabcd<<16 | 5<<opcodeShift | flagRD}, Notimp)
	if want := "\xab\xcd\xa9\x04\x00\x00\x00\x00\x00\x00\x00\x00"; string(msg) != want {
		t.Errorf("%q, want %q", msg, want)
	}
}

// TestCloseOptions puts options, extended error and another size into OPT.
func TestCloseOptions(t *testing.T) {
	packet := []byte(header(1, 0, 0, 0) + question)
	q := Query{End: len(packet), EDNS: EDNS{Present: true}}
	options := AppendPadding(AppendOption(nil, OptionNSID, []byte("ns1")), 2)
	msg := Close(Open(nil, packet, &q), &q, &Header{RCode: WrongCookie, ExtendedError: Prohibited}, 4096, options)
	want := "\x00\x00\x29\x10\x00\x01\x00\x00\x00\x00\x13" + "\x00\x0f\x00\x02\x00\x12" + "\x00\x03\x00\x03ns1" + "\x00\x0c\x00\x02\x00\x00"
	if got := string(msg[len(packet):]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCloseWithoutQuestion answers a query that had none.
func TestCloseWithoutQuestion(t *testing.T) {
	q := Query{Echo: 0x1234 << 16, End: HeaderSize, EDNS: EDNS{Present: true}}
	msg := Close(Open(nil, []byte(header(0, 0, 0, 1)), &q), &q, &Header{}, 1232, nil)
	if want := "\x12\x34\x80\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"; string(msg) != want {
		t.Errorf("%q, want %q", msg, want)
	}
}
