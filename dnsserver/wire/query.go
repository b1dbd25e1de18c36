// Package wire reads queries from packets and writes the frame of replies. It
// allocates nothing and checks every read against the packet's end.
package wire

import (
	"encoding/binary"
	"net/netip"
)

// HeaderSize is the length of a message header in bytes (RFC 1035 §4.1.1).
// The question's name always starts there.
const HeaderSize = 12

// Opcodes, types and classes that the packet line tells apart.
const (
	OpQuery  = 0
	OpNotify = 4

	TypeCNAME = 5
	TypeTXT   = 16
	TypeDNAME = 39
	TypeOPT   = 41
	TypeDS    = 43
	TypeIXFR  = 251
	TypeAXFR  = 252
	TypeANY   = 255

	ClassIN = 1
	ClassCH = 3
)

// Outcome says what to do with a packet.
type Outcome uint8

// Outcomes of Parse.
const (
	OK      Outcome = iota // the whole Query is valid
	Drop                   // no reply: shorter than a header, or itself a reply
	FormErr                // malformed; only ID, Opcode and RD are valid
	NotImp                 // neither QUERY nor NOTIFY; only ID, Opcode and RD are valid
)

// Query is what a packet asks. It is filled by Parse and made to be reused.
type Query struct {
	ID     uint16
	Type   uint16
	Class  uint16
	Opcode uint8
	RD     bool
	End    int // offset just past the question; HeaderSize where there is none
	Name   Name
	EDNS   EDNS
}

// EDNS is what the OPT record of a query says (RFC 6891 §6.1).
type EDNS struct {
	Present bool
	DO      bool
	Version uint8
	Has     OptionSet
	Size    uint16       // UDP payload that the client takes, in bytes, as sent
	Cookie  []byte       // with HasCookie: 8 or 16–40 bytes, part of the packet
	Subnet  netip.Prefix // with HasSubnet: where the client is; not valid where it will not tell
	subnet  []byte       // the data of that option
}

// Parse reads packet into q. The packet must outlive the use of q. A query
// without a question is OK when it has a COOKIE (RFC 7873 §5.4): its type and
// class are 0, its name is the root.
func Parse(packet []byte, q *Query) Outcome {
	if len(packet) < HeaderSize || packet[2]&0x80 != 0 {
		return Drop
	}
	head := (*[HeaderSize]byte)(packet)
	q.ID = binary.BigEndian.Uint16(head[:])
	q.Opcode = head[2] >> 3 & 15
	q.RD = head[2]&1 != 0
	q.EDNS.Present, q.EDNS.DO, q.EDNS.Version, q.EDNS.Has, q.EDNS.Size = false, false, 0, 0, 0
	if q.Opcode != OpQuery && q.Opcode != OpNotify {
		return NotImp
	}
	counts := binary.BigEndian.Uint64(head[4:])
	switch counts >> 48 {
	case 0:
		return q.cookieOnly(packet)
	case 1:
	default:
		return FormErr
	}
	if !q.Name.Read(packet) {
		return FormErr
	}
	at := HeaderSize + len(q.Name.Wire)
	q.End = at + 4
	if len(packet) < q.End {
		return FormErr
	}
	typeAndClass := binary.BigEndian.Uint32(packet[at:])
	q.Type, q.Class = uint16(typeAndClass>>16), uint16(typeAndClass)
	if counts == 1<<48 && len(packet) == q.End { // as in most queries, nothing else
		return OK
	}
	rest := packet[q.End:]
	if counts == 1<<48|1 && len(rest) >= optSize && rest[0] == 0 && binary.BigEndian.Uint16(rest[1:]) == TypeOPT { // or an OPT alone
		if int(binary.BigEndian.Uint16(rest[9:])) != len(rest)-optSize || !q.EDNS.read(rest[1:optSize], rest[optSize:]) {
			return FormErr
		}
		return OK
	}
	if !q.records(packet) {
		return FormErr
	}
	return OK
}

// cookieOnly reads a query that asks for nothing but a cookie.
func (q *Query) cookieOnly(packet []byte) Outcome {
	q.End, q.Type, q.Class = HeaderSize, 0, 0
	q.Name.Set([]byte{0})
	if q.Opcode != OpQuery || !q.records(packet) || q.EDNS.Has&HasCookie == 0 {
		return FormErr
	}
	return OK
}

// records walks the records after the question. Only OPT matters, once and in
// the additional section (RFC 6891 §6.1.1); the packet must end with the last.
func (q *Query) records(p []byte) bool {
	other := int(binary.BigEndian.Uint16(p[6:])) + int(binary.BigEndian.Uint16(p[8:]))
	total := other + int(binary.BigEndian.Uint16(p[10:]))
	off := q.End
	for i := range total {
		root := off < len(p) && p[off] == 0
		if off = skipName(p, off); off < 0 || len(p) < off+10 {
			return false
		}
		head := p[off : off+10]
		end := off + 10 + int(binary.BigEndian.Uint16(head[8:]))
		if end > len(p) {
			return false
		}
		if binary.BigEndian.Uint16(head) == TypeOPT {
			if i < other || !root || q.EDNS.Present || !q.EDNS.read(head, p[off+10:end]) {
				return false
			}
		}
		off = end
	}
	return off == len(p)
}

// read takes an OPT record: its head from the type on, and its options. What
// options mean in another version of EDNS is not known here.
func (e *EDNS) read(head, options []byte) bool {
	e.Present = true
	e.Size = binary.BigEndian.Uint16(head[2:])
	e.Version = head[5]
	e.DO = head[6]&0x80 != 0
	for len(options) > 0 {
		if len(options) < OptionHead {
			return false
		}
		n := OptionHead + int(binary.BigEndian.Uint16(options[2:]))
		if n > len(options) {
			return false
		}
		if e.Version == 0 {
			e.option(options[:n])
		}
		options = options[n:]
	}
	return true
}

// skipName gives the offset past the name at off, or -1. A pointer ends a name
// and must point backwards.
func skipName(p []byte, off int) int {
	for start := off; off < len(p) && off-start < MaxName; {
		switch n := int(p[off]); {
		case n == 0:
			return off + 1
		case n < 64:
			off += 1 + n
		case n >= 192 && off+1 < len(p) && int(binary.BigEndian.Uint16(p[off:])&0x3fff) < start:
			return off + 2
		default:
			return -1
		}
	}
	return -1
}
