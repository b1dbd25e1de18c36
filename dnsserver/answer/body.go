package answer

import (
	"encoding/binary"

	"gslbd/dnsserver/wire"
)

// recordHead is the length of a record up to its data when its owner is a
// pointer: owner, type, class, TTL, data length.
const recordHead = 12

// maxPointer is the first offset that a compression pointer cannot reach (RFC 1035 §4.1.4).
const maxPointer = 0x4000

// maxInside bounds pointers from a body into itself. Whatever can stand before
// a body (the question, a whole CNAME chain) is shorter than maxPointer-maxInside.
const maxInside = 0x1000

// body holds records in wire form, packed for a message that asks for their
// owner and has no other record. Their names are compressed with pointers of
// three kinds, told apart by value: to the owner (wire.HeaderSize), to the
// zone's apex within the question (less than base), and into the body itself.
// In a message of that shape the bytes are right as they are; in another,
// Reply.put moves the pointers.
type body struct {
	data   []byte
	ptrs   []byte // offset in data of each pointer, two bytes each
	stride int    // bytes of each record if all are equal and have an owner pointer only; else 0
	count  int    // records
	window int    // records in one answer, at most count; rotated where stride is set
	base   int    // where data stands in the message it was packed for
	target []byte // CNAME, DNAME: the name it leads to, lower-case wire form
	node   uint32 // CNAME: where target is in its zone, see Zone.nodeOf
}

// glue is an address RRset that goes with an NS record of a delegation.
type glue struct {
	set  uint32 // offset in data
	pos  uint16 // offset of the server's name in the NS body
	must bool   // at or below the cut: unreachable without it (RFC 9471)
}

// put copies b behind the message, its records owned by the name at owner, and
// gives the number of records: 0 when they do not fit.
func (r *Reply) put(b *body, owner int) int {
	if b.stride != 0 {
		return r.putEqual(b, owner)
	}
	at := len(r.Msg)
	if at+len(b.data) > r.limit {
		return 0
	}
	r.Msg = append(r.Msg, b.data...)
	if at == b.base && owner == wire.HeaderSize {
		return b.count
	}
	placed := r.Msg[at:]
	for p := b.ptrs; len(p) >= 2; p = p[2:] {
		ptr := placed[binary.BigEndian.Uint16(p):]
		to := int(binary.BigEndian.Uint16(ptr)) & (maxPointer - 1)
		switch {
		case to == wire.HeaderSize:
			to = owner
		case to < b.base:
			to = r.apex
		default:
			to += at - b.base
		}
		putPointer(ptr, to)
	}
	return b.count
}

// putEqual is put for records of equal size: it starts at a random one, so that
// load spreads over them, and ends after b.window.
func (r *Reply) putEqual(b *body, owner int) int {
	at, n := len(r.Msg), b.window
	if at+n*b.stride > r.limit {
		return 0
	}
	first := 0
	if b.count > 1 {
		first = r.pick(b.count)
	}
	k := min(n, b.count-first)
	r.Msg = append(r.Msg, b.data[first*b.stride:(first+k)*b.stride]...)
	r.Msg = append(r.Msg, b.data[:(n-k)*b.stride]...)
	if owner != wire.HeaderSize {
		for ; at < len(r.Msg); at += b.stride {
			putPointer(r.Msg[at:], owner)
		}
	}
	return n
}

func putPointer(b []byte, to int) {
	binary.BigEndian.PutUint16(b, uint16(0xc000|to))
}
