package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// header is a query's header with so many records in each section.
func header(qd, an, ns, ar byte) string {
	return "\x12\x34\x01\x00\x00" + string(qd) + "\x00" + string(an) + "\x00" + string(ns) + "\x00" + string(ar)
}

const (
	question = "\x03wWw\x07eXample\x00\x00\x1c\x00\x01"
	opt      = "\x00\x00\x29\x04\xd0\x00\x00\x80\x00\x00\x00"
	record   = "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x01\x02\x03\x04"
)

// parseCase is a packet and what Parse must make of it.
type parseCase struct {
	name, packet string
	want         Outcome
}

// readable lists packets that are queries, or not for us to read.
func readable() []parseCase {
	long := strings.Repeat("\x3f"+strings.Repeat("a", 63), 3)
	return []parseCase{
		{"question", header(1, 0, 0, 0) + question, OK},
		{"root", header(1, 0, 0, 0) + "\x00\x00\x02\x00\x01", OK},
		{"edns", header(1, 0, 0, 1) + question + opt, OK},
		{"options", header(1, 0, 0, 1) + question + opt[:9] + "\x00\x08\x00\x0a\x00\x04abcd", OK},
		{"empty option", header(1, 0, 0, 1) + question + opt[:9] + "\x00\x04\x00\x03\x00\x00", OK},
		{"record before opt", header(1, 0, 0, 2) + question + record + opt, OK},
		{"records in every section", header(1, 1, 1, 1) + question + record + record + record, OK},
		{"notify", strings.Replace(header(1, 1, 0, 0), "\x01\x00", "\x20\x00", 1) + question + record, OK},
		{"255 bytes", header(1, 0, 0, 0) + long + "\x3d" + strings.Repeat("b", 61) + "\x00\x00\x01\x00\x01", OK},
		{"127 labels", header(1, 0, 0, 0) + strings.Repeat("\x01x", 127) + "\x00\x00\x01\x00\x01", OK},

		{"empty", "", Drop},
		{"short", header(1, 0, 0, 0)[:11], Drop},
		{"reply", strings.Replace(header(1, 0, 0, 0), "\x01\x00", "\x81\x00", 1) + question, Drop},
		{"reply of another opcode", strings.Replace(header(1, 0, 0, 0), "\x01\x00", "\xa8\x00", 1) + question, Drop},

		{"status", strings.Replace(header(1, 0, 0, 0), "\x01\x00", "\x10\x00", 1) + question, NotImp},
		{"update", strings.Replace(header(1, 0, 0, 0), "\x01\x00", "\x28\x00", 1), NotImp},
		{"opcode 15, garbage", strings.Replace(header(1, 9, 0, 0), "\x01\x00", "\x78\x00", 1) + "\xff", NotImp},
	}
}

// malformed lists packets that get FORMERR.
func malformed() []parseCase {
	long := strings.Repeat("\x3f"+strings.Repeat("a", 63), 3)
	return []parseCase{
		{"no question", header(0, 0, 0, 0), FormErr},
		{"no question, edns", header(0, 0, 0, 1) + opt, FormErr},
		{"two questions", header(2, 0, 0, 0) + question + question, FormErr},
		{"header alone", header(1, 0, 0, 0), FormErr},
		{"name cut", header(1, 0, 0, 0) + question[:7], FormErr},
		{"type cut", header(1, 0, 0, 0) + question[:len(question)-3], FormErr},
		{"class cut", header(1, 0, 0, 0) + question[:len(question)-1], FormErr},
		{"pointer in question", header(1, 0, 0, 0) + "\xc0\x0c\x00\x01\x00\x01", FormErr},
		{"pointer behind a label", header(1, 0, 0, 0) + "\x01a\xc0\x0c\x00\x01\x00\x01", FormErr},
		{"extended label", header(1, 0, 0, 0) + "\x41a\x00\x00\x01\x00\x01", FormErr},
		{"256 bytes", header(1, 0, 0, 0) + long + "\x3e" + strings.Repeat("b", 62) + "\x00\x00\x01\x00\x01", FormErr},
		{"128 labels", header(1, 0, 0, 0) + strings.Repeat("\x01x", 128) + "\x00\x00\x01\x00\x01", FormErr},
		{"trailing byte", header(1, 0, 0, 0) + question + "\x00", FormErr},
		{"trailing byte behind opt", header(1, 0, 0, 1) + question + opt + "\x00", FormErr},
		{"record missing", header(1, 0, 0, 1) + question, FormErr},
		{"record cut", header(1, 0, 0, 1) + question + record[:9], FormErr},
		{"data cut", header(1, 0, 0, 1) + question + record[:len(record)-1], FormErr},
		{"two opt", header(1, 0, 0, 2) + question + opt + opt, FormErr},
		{"opt among the answers", header(1, 1, 0, 0) + question + opt, FormErr},
		{"opt in authority", header(1, 0, 1, 0) + question + opt, FormErr},
		{"opt not at the root", header(1, 0, 0, 1) + question + "\x01a" + opt, FormErr},
		{"option cut", header(1, 0, 0, 1) + question + opt[:9] + "\x00\x03\x00\x0a\x00", FormErr},
		{"option too long", header(1, 0, 0, 1) + question + opt[:9] + "\x00\x05\x00\x0a\x00\x02a", FormErr},
		{"record's name forward", header(1, 0, 0, 1) + question + "\xc0\x30" + record[2:], FormErr},
		{"record's name to itself", header(1, 0, 0, 1) + question + "\xc0\x1d" + record[2:], FormErr},
		{"record's name cut", header(1, 0, 0, 1) + question + "\xc0", FormErr},
		{"record's name reserved", header(1, 0, 0, 1) + question + "\x80\x0c" + record[2:], FormErr},
	}
}

func TestParse(t *testing.T) {
	for _, c := range append(readable(), malformed()...) {
		var q Query
		if got := Parse([]byte(c.packet), &q); got != c.want {
			t.Errorf("%s: outcome %d, want %d", c.name, got, c.want)
		}
		// Every byte less is an error or silence, and no read goes past the end.
		for n := range c.packet {
			if c.want != OK {
				break
			}
			if got := Parse(slices.Clip([]byte(c.packet[:n])), &q); got == OK {
				t.Errorf("%s: OK though cut to %d bytes", c.name, n)
			}
		}
	}
}

func TestParseFields(t *testing.T) {
	q := Query{EDNS: EDNS{Present: true, DO: true, Size: 9, Version: 9, Has: 255}}
	packet := []byte(header(1, 0, 0, 0) + question)
	if Parse(packet, &q) != OK {
		t.Fatal("not OK")
	}
	if q.Echo != 0x12340100 || q.Opcode() != OpQuery || q.Type != 28 || q.Class != ClassIN || q.End != len(packet) {
		t.Errorf("%+v", q)
	}
	if q.EDNS.Present || q.EDNS.DO || q.EDNS.Size != 0 || q.EDNS.Version != 0 || q.EDNS.Has != 0 {
		t.Errorf("EDNS of an earlier query stays: %+v", q.EDNS)
	}
	if got := string(q.Name.Wire); got != "\x03www\x07example\x00" {
		t.Errorf("name %q", got)
	}
	if q.Name.Labels != 2 || q.Name.Start[0] != 0 || q.Name.Start[1] != 4 {
		t.Errorf("labels %d at %v", q.Name.Labels, q.Name.Start[:q.Name.Labels])
	}
	for labels, want := range []int{12, 4, 0} {
		if got := q.Name.Suffix(labels); got != want {
			t.Errorf("Suffix(%d) = %d, want %d", labels, got, want)
		}
	}
}

func TestParseEDNS(t *testing.T) {
	var q Query
	options := "\x00\x0a\x00\x08abcdefgh\x00\x03\x00\x00"
	for version, has := range map[byte]OptionSet{0: HasCookie | HasNSID, 5: 0} {
		packet := header(1, 0, 0, 1) + question + "\x00\x00\x29\x02\x01\x07" + string(version) + "\x80\x00\x00\x10" + options
		if Parse([]byte(packet), &q) != OK {
			t.Fatal("not OK")
		}
		if e := q.EDNS; !e.Present || e.Size != 0x201 || e.Version != version || !e.DO || e.Has != has {
			t.Errorf("%+v", e)
		}
	}
}

// TestOptAlone reads an OPT record that stands alone and one behind another
// record, each byte of it changed in turn: the same must come of both.
func TestOptAlone(t *testing.T) {
	var alone, behind Query
	for _, good := range []string{
		opt,
		opt[:9] + "\x00\x10\x00\x0a\x00\x08abcdefgh\x00\x03\x00\x00",
		opt[:9] + "\x00\x0b\x00\x08\x00\x07\x00\x01\x18\x00\xc0\x00\x02",
	} {
		for at := range good {
			for value := range 256 {
				changed := good[:at] + string([]byte{byte(value)}) + good[at+1:]
				want := Parse([]byte(header(1, 0, 0, 2)+question+record+changed), &behind)
				if got := Parse([]byte(header(1, 0, 0, 1)+question+changed), &alone); got != want {
					t.Fatalf("%q: outcome %d alone, %d behind a record", changed, got, want)
				}
				a, b := alone.EDNS, behind.EDNS
				if want == OK && (a.Present != b.Present || a.DO != b.DO || a.Version != b.Version || a.Has != b.Has || a.Size != b.Size ||
					a.Subnet != b.Subnet || !bytes.Equal(a.Cookie, b.Cookie)) {
					t.Fatalf("%q: %+v alone, %+v behind a record", changed, a, b)
				}
			}
		}
	}
}

func TestLower(t *testing.T) {
	for n := range 40 {
		var name, want []byte
		for i := range n {
			c := byte(i*37 + n*11)
			name = append(name, c)
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			want = append(want, c)
		}
		q := Name{Wire: slices.Clone(name)}
		q.lower()
		if !bytes.Equal(q.Wire, want) {
			t.Errorf("%q: %q, want %q", name, q.Wire, want)
		}
		if !bytes.Equal(name, want) && !perhapsCapital(name) {
			t.Errorf("%q has capitals", name)
		}
	}
	for at := range 40 {
		for c := range 256 {
			name := bytes.Repeat([]byte("a-9\x3f"), 10)
			name[at] = byte(c)
			for n := at + 1; n <= len(name); n++ {
				if got, want := perhapsCapital(name[:n]), c&0x60 == 0x40; got != want {
					t.Fatalf("%q: perhaps a capital %v, want %v", name[:n], got, want)
				}
			}
		}
	}
	for c := range 256 {
		each := lower8(uint64(c) * 0x0101010101010101)
		if want := Lower(byte(c)); each != uint64(want)*0x0101010101010101 {
			t.Errorf("lower8 of %#x: %#x", c, each)
		}
	}
}

func TestSet(t *testing.T) {
	var n Name
	n.Set([]byte("\x01a\x02bc\x00rest"))
	if string(n.Wire) != "\x01a\x02bc\x00" || n.Labels != 2 || n.Start[1] != 2 {
		t.Errorf("%q, %d labels", n.Wire, n.Labels)
	}
	n.Set([]byte{0})
	if len(n.Wire) != 1 || n.Labels != 0 || n.Suffix(0) != 0 {
		t.Errorf("root: %d bytes, %d labels", len(n.Wire), n.Labels)
	}
}

// TestParseDamaged changes each byte and bit of good packets: whatever comes of
// it, the question read must lie within the packet and the name be whole.
func TestParseDamaged(t *testing.T) {
	for _, good := range []string{
		header(1, 0, 0, 0) + question,
		header(1, 0, 0, 1) + question + opt,
		header(1, 0, 0, 2) + question + record + opt[:9] + "\x00\x08\x00\x0a\x00\x04abcd",
	} {
		for at := range good {
			for value := range 256 {
				packet := slices.Clip([]byte(good))
				packet[at] = byte(value)
				var q Query
				if Parse(packet, &q) != OK {
					continue
				}
				if q.End > len(packet) || len(q.Name.Wire) != q.End-4-HeaderSize || q.Name.Wire[len(q.Name.Wire)-1] != 0 {
					t.Fatalf("byte %d = %#x: %+v", at, value, q)
				}
				var again Name
				again.Set(q.Name.Wire)
				if len(again.Wire) != len(q.Name.Wire) || again.Labels != q.Name.Labels {
					t.Fatalf("byte %d = %#x: name %q", at, value, q.Name.Wire)
				}
			}
		}
	}
}
