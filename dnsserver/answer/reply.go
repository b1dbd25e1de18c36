package answer

import "gslbd/dnsserver/wire"

// Kind classes an answer, for counting.
type Kind uint8

// Kinds of answers; a chain counts as what its last name gave.
const (
	Positive Kind = iota
	NoData        // the name exists, the type does not (RFC 2308 §2.2)
	NXDomain      // RFC 2308 §2.1
	Referral      // to the servers of a delegated zone
	Refused       // outside every zone
	Failed        // a group that answers SERVFAIL
	TooLong       // a DNAME led to a name over 255 bytes (RFC 6672 §2.2)
	kinds
)

// Kinds is the number of Kind values.
const Kinds = int(kinds)

// Reply is an answer being built. Each goroutine reuses its own: Begin, then Batch.Lookup, then read.
type Reply struct {
	Msg    []byte      // the message so far
	Header wire.Header // what Lookup decided
	Kind   Kind

	limit    int // greatest length of Msg
	question int // length of Msg when Lookup began
	random   uint64
	entry        // of the zone of the name at hand; afterwards, of the last name that was in one
	apex     int // where the zone's name stands in Msg
	source   int // see Source: where the owner of the first record begins in the question
	origin   int // and the name of its zone
	chain    [maxHops]wire.Name

	redirects [maxHops + 1]*node // those whose DNAME is in the answer
	dnames    int                // how many they are
}

// Seed sets where the rotation of the records starts.
func (r *Reply) Seed(seed uint64) { r.random = seed }

// Begin starts an answer behind msg, a header's place and the question, that
// must not make it longer than limit bytes.
func (r *Reply) Begin(msg []byte, limit int) {
	r.Msg, r.limit, r.question = msg, limit, len(msg)
	r.Header = wire.Header{}
	r.Kind = Positive
}

// Forget lets go of the zones that were asked last, as Batch.Forget does. Msg and Header stay.
func (r *Reply) Forget() {
	r.forgetRedirects()
	r.entry = entry{}
}

func (r *Reply) forgetRedirects() {
	clear(r.redirects[:r.dnames])
	r.dnames = 0
}

// pick gives a number below n, from a linear congruential generator: a counter
// would give clients that ask A and AAAA in turn the same half of the records.
func (r *Reply) pick(n int) int {
	r.random = r.random*6364136223846793005 + 1442695040888963407
	return int(r.random >> 32 * uint64(n) >> 32)
}
