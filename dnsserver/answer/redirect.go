package answer

import (
	"encoding/binary"

	"gslbd/dnsserver/wire"
)

// redirect answers for a name below the DNAME of n: the DNAME, and a CNAME made
// from it (RFC 6672 §3.1). It gives what step does.
func (r *Reply) redirect(n *node, name *wire.Name, pos int, qtype uint16, hop int) int {
	z := r.zone
	dname := z.rrset(n, wire.TypeDNAME) // never of a group
	target := z.target(dname)
	prefix := len(name.Wire) - z.size(n)
	if r.first(n) {
		if !r.put(z.records(dname), z.pointers(dname), z.base(n), pos+prefix) {
			r.truncate()
			return 0
		}
		r.Header.Answer++
	}
	size := prefix + len(target)
	if size > wire.MaxName {
		r.Kind, r.Header.RCode = TooLong, wire.YXDomain
		return 0
	}
	cname := len(r.Msg)
	if cname+recordHead+size > r.limit {
		r.truncate()
		return 0
	}
	r.Msg = append(r.Msg, byte(0xc0|pos>>8), byte(pos), 0, wire.TypeCNAME, 0, wire.ClassIN)
	r.Msg = append(r.Msg, z.records(dname)[6:10]...) // TTL
	r.Msg = binary.BigEndian.AppendUint16(r.Msg, uint16(size))
	r.Msg = append(r.Msg, name.Wire[:prefix]...)
	r.Msg = append(r.Msg, target...)
	r.Header.Answer++
	if qtype == wire.TypeCNAME || qtype == wire.TypeANY || hop == maxHops {
		return 0
	}
	r.chain[hop].Set(r.Msg[cname+recordHead:])
	return cname + recordHead
}

// first tells whether the DNAME of n is not in the answer yet: a chain may
// come by it more than once, but an RRset has no duplicates (RFC 2181 §5).
func (r *Reply) first(n *node) bool {
	for _, seen := range r.redirects[:r.dnames] {
		if seen == n {
			return false
		}
	}
	r.redirects[r.dnames] = n
	r.dnames++
	return true
}
