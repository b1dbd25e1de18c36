package dnsserver

import (
	"math/rand/v2"
	"net/netip"
	"sync/atomic"

	"gslbd/dnsserver/answer"
	"gslbd/dnsserver/wire"
)

// maxTCP is the longest message that TCP carries, in bytes (RFC 1035 §4.2.2);
// maxUDP is the longest that is ever sent over UDP.
const (
	maxTCP = 65535
	maxUDP = 4096
)

// cookieSize is the length of the COOKIE option in replies, in bytes; it stands first.
const cookieSize = wire.OptionHead + 24

// maxOptions is the room for the options of one reply in bytes: COOKIE, subnet,
// keepalive, NSID and padding at their longest.
const maxOptions = cookieSize + 24 + 6 + 259 + 4 + 467

// Responder turns queries into replies. It holds scratch space, so each
// goroutine needs its own; the table and the counts may be shared. It neither
// allocates nor locks nor asks for the time.
type Responder struct {
	table       *atomic.Pointer[answer.Table]
	shared      *Shared
	count       *AnswerCounts
	pending     pending          // for count
	batch       *answer.Batch    // queries that were read
	query       *answer.Question // the one that is being answered
	reply       answer.Reply
	options     []byte                       // of the reply's OPT
	validCookie bool                         // the client sent a server cookie that we made for it
	rate        *atomic.Pointer[rateLimiter] // holds nil when the rate of answers is not limited
}

// NewResponder makes a Responder that answers from whatever *table holds when
// a query comes (nil: REFUSED) and counts in *count. Its settings are the
// default ones, and its clock stands, unless With gives it others.
func NewResponder(table *atomic.Pointer[answer.Table], count *AnswerCounts) *Responder {
	r := &Responder{table: table, shared: NewShared(), count: count, batch: answer.NewBatch(1), options: make([]byte, 0, maxOptions), rate: new(atomic.Pointer[rateLimiter])}
	r.reply.Seed(rand.Uint64())
	return r
}

// With makes r follow the settings and the clock of shared, and gives r.
func (r *Responder) With(shared *Shared) *Responder {
	r.shared = shared
	return r
}

// InBatches makes room for batches of up to size queries, at most
// answer.MaxBatch, and gives r.
func (r *Responder) InBatches(size int) *Responder {
	r.batch = answer.NewBatch(size)
	return r
}

// Respond appends the reply to packet to dst and returns the longer slice; dst
// itself means no reply. Over UDP a reply has at most the bytes that the settings
// allow, and at most what the client says it takes (RFC 6891 §6.2.3), so with
// that much room in dst nothing is allocated. client is where the packet came from.
func (r *Responder) Respond(dst, packet []byte, client netip.AddrPort, transport Transport) []byte {
	r.Read(0, packet)
	r.Find(1)
	msg := r.Answer(0, dst[len(dst):], client, transport)
	r.pending.move(r.count)
	if cap(msg) == cap(dst)-len(dst) { // it never needed more room, and is where it began
		return dst[:len(dst)+len(msg)]
	}
	return append(dst, msg...)
}

// Read, Find and Answer are Respond for a batch: all packets are read, then their
// names are found side by side, then each gets its answer. Read takes the i-th
// packet, below the size of InBatches; it must outlive the answer.
func (r *Responder) Read(i int, packet []byte) { r.batch.Questions[i].Read(packet) }

// Find finds what the first n packets ask for, in the table that is there now.
func (r *Responder) Find(n int) { r.batch.Find(r.table.Load(), n) }

// Answer makes the reply to the i-th packet in msg, which is empty and should
// have room for it; nil means no reply.
func (r *Responder) Answer(i int, msg []byte, client netip.AddrPort, transport Transport) []byte {
	r.query = &r.batch.Questions[i]
	r.options, r.validCookie = r.options[:0], false
	switch r.query.Outcome {
	case wire.Drop:
		r.pending.add(countDropped)
		return nil
	case wire.FormErr:
		r.pending.add(countFormErr)
		msg = wire.Bare(msg, &r.query.Query, wire.Formerr)
	case wire.NotImp:
		r.pending.add(countNotImp)
		msg = wire.Bare(msg, &r.query.Query, wire.Notimp)
	default:
		msg = r.answer(wire.Open(msg, r.query.Packet, &r.query.Query), client.Addr(), transport)
	}
	if l := r.rate.Load(); l != nil && transport == UDP {
		return r.limited(l, msg, client.Addr(), r.validCookie)
	}
	return msg
}

// Count is called after the last Answer of a batch: it makes the counts tell of them.
func (r *Responder) Count() { r.pending.move(r.count) }

// Rest is called before a wait for queries that may be long: without it a table that was replaced meanwhile stays in memory until the next.
func (r *Responder) Rest() {
	r.batch.Forget()
	r.reply.Forget()
}

// answer replies to a well-formed query behind its question. (Few arguments:
// all of them fit into registers.)
func (r *Responder) answer(msg []byte, client netip.Addr, transport Transport) []byte {
	q, reply, set := r.query, &r.reply, r.shared.settings.Load()
	wellFormed := true
	if q.EDNS.Has != 0 {
		wellFormed = r.readOptions(set, client, transport)
	}
	limit := r.limit(set, transport)
	reply.Begin(msg, limit-q.OptSize()-len(r.options))
	kind := countRefused
	switch {
	case q.EDNS.Version > 0:
		reply.Header.RCode = wire.BadVers
		kind = countBadVers
	case !wellFormed:
		reply.Header.RCode = wire.Formerr
		kind = countFormErr
	case q.Opcode() != wire.OpQuery, q.Class != wire.ClassIN, q.Type == wire.TypeAXFR, q.Type == wire.TypeIXFR,
		q.Type == wire.TypeANY && set.RefuseANY:
		kind = r.unusual(set)
	default:
		r.batch.Lookup(q, reply)
		kind = int(reply.Kind)
		if reply.Header.TC {
			r.pending.add(countTruncated)
		}
	}
	if q.EDNS.Has&(wire.HasNSID|wire.HasPadding) != 0 {
		r.fillOptions(set, limit)
	}
	r.pending.add(kind)
	return wire.Close(reply.Msg, &q.Query, &reply.Header, set.udpSize, r.options)
}

// limit gives the greatest length of a reply in bytes.
func (r *Responder) limit(set *settings, transport Transport) int {
	e := &r.query.EDNS
	switch {
	case transport != UDP:
		return maxTCP
	case !e.Present:
		return wire.MinUDPSize
	}
	most := set.udpSize
	if !r.validCookie {
		most = set.uncookied
	}
	return int(min(max(e.Size, wire.MinUDPSize), most))
}
