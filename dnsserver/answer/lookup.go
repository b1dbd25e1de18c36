package answer

import (
	"bytes"

	"gslbd/dnsserver/wire"
)

// maxHops bounds how many CNAME and DNAME records one answer follows.
const maxHops = 16

// Lookup answers q, which Find was given, behind the question in r (RFC 1034
// §4.3.2, RFC 6672 §3.2): zone by zone along a CNAME chain, as long as it stays in
// zones that are here, does not loop and has at most 16 links.
func (b *Batch) Lookup(q *Question, r *Reply) {
	if r.dnames > 0 {
		r.forgetRedirects()
	}
	if q.zone == nil {
		r.Kind = Refused
		r.Header.RCode = wire.Refused
		r.Header.ExtendedError = wire.NotAuthoritative
		return
	}
	r.Header.AA = true
	name, pos := &q.Name, wire.HeaderSize
	r.entry, r.apex = q.entry, pos+len(name.Wire)-len(q.zone.apex)
	r.origin = r.apex
	next := 0
	if n := q.zone.node(q.node); q.exact && n.flags&^(isWildcard|hasCNAME) == 0 { // as most names are
		r.source = pos
		s := q.zone.rrset(n, q.Type)
		if s != nil || n.flags&hasCNAME == 0 {
			r.give(n, s, q.Type, pos)
			return
		}
		next = r.alias(n, pos, q.Type, 0)
	} else if q.exact {
		next = r.step(name, pos, q.Type, 0, q.node, true)
	} else {
		next = r.step(name, pos, q.Type, 0, q.zone.encloser(name), false)
	}
	for hop := 0; next != 0 && !r.loops(&q.Query, hop); hop++ {
		name, pos = &r.chain[hop], next
		e := b.table.zone(name, q.Type)
		if e.zone == nil {
			return
		}
		if e.zone != r.zone {
			r.entry, r.apex = e, pos+len(name.Wire)-len(e.zone.apex)
		}
		at, exact := e.zone.find(name)
		next = r.step(name, pos, q.Type, hop+1, at, exact)
	}
}

// step answers for one name, which stands at pos and is in r.zone, where find
// gave the node at and exact. Where a CNAME or DNAME leads on, it puts the target
// in chain[hop] and gives the target's offset in the message, else 0.
func (r *Reply) step(name *wire.Name, pos int, qtype uint16, hop int, at uint32, exact bool) int {
	z := r.zone
	n := z.node(at)
	if n.flags&isOccluded != 0 {
		n, exact = z.node(n.aux), false
	}
	if hop == 0 {
		r.source = pos + len(name.Wire) - z.size(n)
	}
	if n.flags&isCut != 0 && !(exact && qtype == wire.TypeDS) {
		r.refer(n, pos+len(name.Wire)-z.size(n), hop)
		return 0
	}
	if !exact {
		if n.flags&hasDNAME != 0 {
			return r.redirect(n, name, pos, qtype, hop)
		}
		if n.aux == 0 {
			r.negative(NXDomain, wire.NXDomain)
			return 0
		}
		n = z.node(n.aux)
	}
	s := z.rrset(n, qtype)
	if s != nil || n.flags&hasCNAME == 0 {
		r.give(n, s, qtype, pos)
		return 0
	}
	return r.alias(n, pos, qtype, hop)
}

// alias answers with the CNAME of the node n, whose name stands at pos, and gives
// what step does.
func (r *Reply) alias(n *node, pos int, qtype uint16, hop int) int {
	z := r.zone
	s := z.rrset(n, wire.TypeCNAME)
	record := len(r.Msg)
	b, ok := r.give(n, s, qtype, pos)
	if !ok || qtype == wire.TypeANY || hop == maxHops {
		return 0
	}
	next := r.start(record + recordHead)
	if to := z.link(s, b); to != 0 && r.leaf { // the target is in this zone
		if n = z.node(to); n.flags&^isWildcard == 0 { // and the last name of the chain
			r.give(n, z.rrset(n, qtype), qtype, next)
			return 0
		}
	}
	if b == nil {
		r.chain[hop].Set(z.target(s))
	} else {
		r.chain[hop].Set(b.names.target)
	}
	return next
}

// give answers with the RRset s of the node n, whose name stands at pos; nil
// for none of that type. It tells whether the records are in the answer, and
// gives the body of a group.
func (r *Reply) give(n *node, s *set, qtype uint16, pos int) (*body, bool) {
	if s == nil {
		if qtype == wire.TypeANY && n.sets > 0 {
			r.any(pos)
		} else {
			r.negative(NoData, wire.NoError)
		}
		return nil, false
	}
	count, b, status := r.putSet(r.zone, s, r.zone.base(n), pos)
	if status != answered {
		r.without(status)
		return nil, false
	}
	if count == 0 {
		r.truncate()
		return nil, false
	}
	r.Header.Answer += uint16(count)
	return b, true
}

// start gives the offset of the first label of the name at off.
func (r *Reply) start(off int) int {
	if r.Msg[off] < 0xc0 {
		return off
	}
	return (int(r.Msg[off])<<8 | int(r.Msg[off+1])) & (maxPointer - 1)
}

// loops tells whether the name that hop led to was asked before.
func (r *Reply) loops(q *wire.Query, hop int) bool {
	next := r.chain[hop].Wire
	if bytes.Equal(next, q.Name.Wire) {
		return true
	}
	for i := range hop {
		if bytes.Equal(next, r.chain[i].Wire) {
			return true
		}
	}
	return false
}
