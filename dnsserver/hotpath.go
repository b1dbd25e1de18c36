package dnsserver

import (
	"math/rand/v2"
	"net/netip"
	"sync/atomic"

	"gslbd/dnsserver/answer"
	"gslbd/dnsserver/wire"
)

// maxTCP is the longest message that TCP carries, in bytes (RFC 1035 §4.2.2).
const maxTCP = 65535

// Responder turns queries into replies. It holds scratch space, so each
// goroutine needs its own; the table and the counts may be shared. It neither
// allocates nor locks nor asks for the time.
type Responder struct {
	table *atomic.Pointer[answer.Table]
	count *AnswerCounts
	query wire.Query
	reply answer.Reply
}

// NewResponder makes a Responder that answers from whatever *table holds when
// a query comes (nil: REFUSED) and counts in *count.
func NewResponder(table *atomic.Pointer[answer.Table], count *AnswerCounts) *Responder {
	r := &Responder{table: table, count: count}
	r.reply.Seed(rand.Uint64())
	return r
}

// Respond appends the reply to packet to dst and returns the longer slice; dst
// itself means no reply. Over UDP a reply has at most 1232 bytes, and at most
// what the client says it takes (RFC 6891 §6.2.3), so with that much room in
// dst nothing is allocated. client is where the packet came from.
func (r *Responder) Respond(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
	msg := dst[len(dst):]
	switch wire.Parse(packet, &r.query) {
	case wire.Drop:
		r.count.add(countDropped)
		return dst
	case wire.FormErr:
		r.count.add(countFormErr)
		msg = wire.Bare(msg, &r.query, wire.Formerr)
	case wire.NotImp:
		r.count.add(countNotImp)
		msg = wire.Bare(msg, &r.query, wire.Notimp)
	default:
		msg = r.answer(msg, packet, transport)
	}
	if free := dst[len(dst):cap(dst)]; len(free) >= len(msg) && &free[0] == &msg[0] {
		return dst[:len(dst)+len(msg)]
	}
	return append(dst, msg...)
}

// answer replies to a well-formed query.
func (r *Responder) answer(msg, packet []byte, transport Transport) []byte {
	q, reply := &r.query, &r.reply
	reply.Begin(wire.Open(msg, packet, q), limit(q, transport)-q.OptSize())
	kind := countRefused
	switch {
	case q.EDNS.Version > 0:
		reply.Header.RCode = wire.BadVers
		kind = countBadVers
	case q.Opcode != wire.OpQuery, q.Class != wire.ClassIN, q.Type == wire.TypeAXFR, q.Type == wire.TypeIXFR:
		reply.Header.RCode = wire.Refused
	default:
		r.table.Load().Lookup(q, reply)
		kind = int(reply.Kind)
		if reply.Header.TC {
			r.count.add(countTruncated)
		}
	}
	r.count.add(kind)
	return wire.Close(reply.Msg, q, reply.Header)
}

// limit gives the greatest length of a reply in bytes.
func limit(q *wire.Query, transport Transport) int {
	switch {
	case transport != UDP:
		return maxTCP
	case !q.EDNS.Present:
		return wire.MinUDPSize
	}
	return min(max(int(q.EDNS.Size), wire.MinUDPSize), wire.UDPSize)
}
