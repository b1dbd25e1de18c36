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

// Bits of the first four bytes of a message, and of the first eight of an OPT record.
const (
	flagQR, flagAA, flagTC, flagRD = 1 << 15, 1 << 10, 1 << 9, 1 << 8

	opcodeShift = 11
	echoed      = 0xffff<<16 | 15<<opcodeShift | flagRD

	optShift     = 40 // of the root name and the type
	sizeShift    = 24
	rcodeShift   = 16
	versionShift = 8
	flagDO       = 1 << 7
)

// Outcome says what to do with a packet.
type Outcome uint8

// Outcomes of Parse.
const (
	OK      Outcome = iota // the whole Query is valid
	Drop                   // no reply: shorter than a header, or itself a reply
	FormErr                // malformed; only what Bare needs is valid
	NotImp                 // neither QUERY nor NOTIFY; only what Bare needs is valid
)

// Query is what a packet asks. It is filled by Parse and made to be reused. What
// every query needs is at its ends and in the middle, in few cache lines.
type Query struct {
	Echo  uint32 // what the reply's header takes over, as it stands there: ID, opcode and RD
	Type  uint16
	Class uint16
	End   int // offset just past the question; HeaderSize where there is none
	EDNS  EDNS
	Name  Name
}

// Opcode gives what kind of query it is (RFC 1035 §4.1.1).
func (q *Query) Opcode() uint8 { return uint8(q.Echo >> opcodeShift & 15) }

// EDNS is what the OPT record of a query says (RFC 6891 §6.1).
type EDNS struct {
	Cookie  []byte       // with HasCookie: 8 or 16–40 bytes, part of the packet
	Subnet  netip.Prefix // with HasSubnet: where the client is; not valid where it will not tell
	subnet  []byte       // the data of that option
	Present bool
	DO      bool
	Version uint8
	Has     OptionSet
	Size    uint16 // UDP payload that the client takes, in bytes, as sent
}

// Parse reads packet into q. The packet must outlive the use of q. A query
// without a question is OK when it has a COOKIE (RFC 7873 §5.4): its type and
// class are 0, its name is the root.
func Parse(packet []byte, q *Query) Outcome {
	if len(packet) < HeaderSize {
		return Drop
	}
	head := (*[HeaderSize]byte)(packet)
	first, counts := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint64(head[4:])
	if first&flagQR != 0 {
		return Drop
	}
	q.Echo = first & echoed
	q.EDNS.Present, q.EDNS.DO, q.EDNS.Version, q.EDNS.Has, q.EDNS.Size = false, false, 0, 0, 0
	if opcode := q.Opcode(); opcode != OpQuery && opcode != OpNotify {
		return NotImp
	}
	switch counts >> 48 {
	case 0:
		return q.cookieOnly(packet)
	case 1:
	default:
		return FormErr
	}
	size := q.Name.Read(packet)
	if size == 0 {
		return FormErr
	}
	rest := packet[HeaderSize+size:]
	if len(rest) < 4 {
		return FormErr
	}
	q.Type, q.Class = binary.BigEndian.Uint16(rest), binary.BigEndian.Uint16(rest[2:])
	q.End = HeaderSize + size + 4
	rest = rest[4:]
	switch {
	case len(rest) == 0 && counts == 1<<48: // as in most queries, nothing else
		return OK
	case len(rest) >= optSize && counts == 1<<48|1: // or an OPT alone
		if opt := binary.BigEndian.Uint64(rest); opt>>optShift == TypeOPT && int(binary.BigEndian.Uint16(rest[9:])) == len(rest)-optSize {
			q.EDNS.head(opt)
			if len(rest) == optSize || q.EDNS.options(rest[optSize:]) {
				return OK
			}
			return FormErr
		}
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
	if q.Opcode() != OpQuery || !q.records(packet) || q.EDNS.Has&HasCookie == 0 {
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
		end := off + 10 + int(binary.BigEndian.Uint16(p[off+8:]))
		if end > len(p) {
			return false
		}
		if binary.BigEndian.Uint16(p[off:]) == TypeOPT {
			if i < other || !root || q.EDNS.Present {
				return false
			}
			q.EDNS.head(binary.BigEndian.Uint64(p[off-1:]))
			if !q.EDNS.options(p[off+10 : end]) {
				return false
			}
		}
		off = end
	}
	return off == len(p)
}

// head takes the first eight bytes of an OPT record.
func (e *EDNS) head(opt uint64) {
	e.Present = true
	e.Size = uint16(opt >> sizeShift)
	e.Version = uint8(opt >> versionShift)
	e.DO = opt&flagDO != 0
}

// options takes the options of an OPT record, and tells whether they are well-formed.
// What they mean in another version of EDNS is not known here.
func (e *EDNS) options(options []byte) bool {
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
