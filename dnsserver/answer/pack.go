package answer

import (
	"encoding/binary"
	"fmt"

	"github.com/miekg/dns"

	"gslbd/dnsserver/wire"
	"gslbd/zone"
)

// maxBody bounds one RRset, in bytes: what a zone file may hold can be packed.
const maxBody = zone.MaxRRset

// maxKnown bounds how many names of one body later names are compressed against.
const maxKnown = 64

// packer packs RRsets, one after the other, for reuse of its memory. It writes
// the heads of records itself and compresses names as RFC 3597 §4 allows: in
// the types of RFC 1035 only.
type packer struct {
	apex []byte // lower-case wire form

	data  []byte // of the RRset being packed
	ptrs  []byte
	owner []byte // lower-case wire form; nil = names are not compressed against it
	size  int    // of the owner in wire form
	known []known
	names []byte // lower-case wire forms of known
	name  []byte
	rr    []byte
}

// known is a name that stands in data.
type known struct {
	start, end int // in names
	off        int // in data
}

// rrset packs rrs for the owner in lower-case wire form. compress says whether names in the data may
// point to the owner.
func (p *packer) rrset(owner []byte, rrs []dns.RR, ttl uint32, compress bool) (set, error) {
	p.data, p.ptrs, p.known, p.names = p.data[:0], p.ptrs[:0], p.known[:0], p.names[:0]
	p.owner, p.size = nil, len(owner)
	if compress {
		p.owner = owner
	}
	s := set{typ: rrs[0].Header().Rrtype, count: uint16(len(rrs)), stride: stride(rrs)}
	for _, rr := range rrs {
		if s.stride == 0 {
			p.pointer(wire.HeaderSize)
		} else {
			p.data = append(p.data, 0xc0, wire.HeaderSize)
		}
		p.data = binary.BigEndian.AppendUint16(p.data, s.typ)
		p.data = binary.BigEndian.AppendUint16(p.data, wire.ClassIN)
		p.data = binary.BigEndian.AppendUint32(p.data, ttl)
		at := len(p.data)
		p.data = append(p.data, 0, 0)
		if err := p.rdata(rr); err != nil {
			return s, err
		}
		size := len(p.data) - at - 2
		if len(p.data) > maxBody {
			return s, fmt.Errorf("the records are larger than %d bytes together and do not fit a DNS message", maxBody)
		}
		binary.BigEndian.PutUint16(p.data[at:], uint16(size))
	}
	s.size, s.pointers = uint16(len(p.data)), uint16(len(p.ptrs)/2)
	return s, nil
}

// stride gives the size of each record of an A or AAAA RRset, else 0.
func stride(rrs []dns.RR) uint8 {
	size := uint8(0)
	for _, rr := range rrs {
		n := uint8(0)
		switch rr.(type) {
		case *dns.A:
			n = recordHead + 4
		case *dns.AAAA:
			n = recordHead + 16
		}
		if n == 0 || size != 0 && n != size {
			return 0
		}
		size = n
	}
	return size
}

// body packs an RRset by itself.
func (p *packer) body(owner []byte, rrs []dns.RR, ttl uint32, compress bool) (body, error) {
	s, err := p.rrset(owner, rrs, ttl, compress)
	if err != nil {
		return body{}, err
	}
	target, err := p.target(rrs[0])
	b := body{
		data:   append([]byte(nil), p.data...),
		stride: uint16(s.stride),
		count:  uint16(len(rrs)),
		window: uint16(len(rrs)),
		base:   uint16(wire.HeaderSize + len(owner) + 4),
	}
	if b.stride == 0 {
		b.names = &names{ptrs: append([]byte(nil), p.ptrs...), target: append([]byte(nil), target...)}
	}
	return b, err
}
