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
// Reply.move changes the pointers. A static RRset has the same in the zone's data; see set.
type body struct {
	data   []byte
	stride uint16 // bytes of each record if all are equal and have an owner pointer only; else 0
	count  uint16 // records
	window uint16 // records in one answer, at most count; rotated where stride is set
	base   uint16 // where data stands in the message it was packed for; Zone.base
	names  *names // nil where stride is set
}

// names is what is known of the names in a body.
type names struct {
	ptrs   []byte // offset in data of each pointer, two bytes each
	target []byte // CNAME, DNAME: the name it leads to, lower-case wire form
	node   uint32 // CNAME: where target is in its zone, see Zone.nodeOf
}

// glue is an address RRset that goes with an NS record of a delegation.
type glue struct {
	set  uint32 // offset in data
	pos  uint16 // offset of the server's name in the NS body
	must bool   // at or below the cut: unreachable without it (RFC 9471)
}

// putSet copies what an RRset is now behind the message, its records owned by the
// name at owner, and gives their number: 0 when they do not fit. base is where the
// reference question of their owner ends. It gives the body that a group has, and
// the status; where that is not answered, there is nothing to copy.
func (r *Reply) putSet(z *Zone, s *set, base, owner int) (count int, b *body, status status) {
	if !s.steered {
		data := z.records(s)
		if s.stride != 0 {
			return r.putEqual(data, int(s.stride), int(s.count), int(s.count), owner), nil, answered
		}
		at := len(r.Msg)
		if !r.add(data) {
			return 0, nil, answered
		}
		if at != base || owner != wire.HeaderSize {
			r.move(at, z.pointers(s), base, owner)
		}
		return int(s.count), nil, answered
	}
	b, status = r.selected(z, s)
	switch {
	case status != answered:
		return 0, nil, status
	case b.stride != 0:
		return r.putEqual(b.data, int(b.stride), int(b.count), int(b.window), owner), b, answered
	}
	if r.put(b.data, b.names.ptrs, base, owner) {
		count = int(b.count)
	}
	return count, b, answered
}

// add copies data behind the message, and tells whether it fits.
func (r *Reply) add(data []byte) bool {
	if len(r.Msg)+len(data) > r.limit {
		return false
	}
	r.Msg = append(r.Msg, data...)
	return true
}

// put copies records behind the message, owned by the name at owner, and tells
// whether they fit. They are packed for a message where they begin at base; ptrs
// are their pointers.
func (r *Reply) put(data, ptrs []byte, base, owner int) bool {
	at := len(r.Msg)
	if !r.add(data) {
		return false
	}
	if at != base || owner != wire.HeaderSize {
		r.move(at, ptrs, base, owner)
	}
	return true
}

// move makes the pointers of records right that were packed for base, but stand at at.
func (r *Reply) move(at int, ptrs []byte, base, owner int) {
	placed := r.Msg[at:]
	for ; len(ptrs) >= 2; ptrs = ptrs[2:] {
		ptr := placed[binary.BigEndian.Uint16(ptrs):]
		to := int(binary.BigEndian.Uint16(ptr)) & (maxPointer - 1)
		switch {
		case to == wire.HeaderSize:
			to = owner
		case to < base:
			to = r.apex
		default:
			to += at - base
		}
		putPointer(ptr, to)
	}
}

// putEqual copies records of equal size, owned by the name at owner: from a random
// one of count on, so that load spreads over them, and window of them. It gives
// window, or 0 when they do not fit.
func (r *Reply) putEqual(data []byte, stride, count, window, owner int) int {
	at, size := len(r.Msg), window*stride
	if at+size > r.limit {
		return 0
	}
	if count == 1 {
		r.Msg = append(r.Msg, data...)
	} else {
		first := r.pick(count) * stride
		r.Msg = append(r.Msg, data[first:min(first+size, len(data))]...)
		r.Msg = append(r.Msg, data[:at+size-len(r.Msg)]...)
	}
	if owner != wire.HeaderSize {
		for ; at < len(r.Msg); at += stride {
			putPointer(r.Msg[at:], owner)
		}
	}
	return window
}

func putPointer(b []byte, to int) {
	binary.BigEndian.PutUint16(b, uint16(0xc000|to))
}
