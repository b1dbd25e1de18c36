package answer

import "sync/atomic"

// slot holds what a group answers now; nil until the first Publish.
type slot = atomic.Pointer[selected]

// status says whether an RRset has an answer.
type status uint8

const (
	answered status = iota
	rotated         // answered, by one of several bodies; of selected only
	noData
	failed
)

// selected is a compiled selection. Most are one body; what is served of it stands
// in one piece of memory where it can, in the order in which it is read: one
// IPv4 address is in the first cache line, four are in the first two.
type selected struct {
	status status
	alone  body // answered: what is served
	data   [inPlace]byte
	names  names
	bodies []body // rotated: one of these is served
}

// inPlace is how many bytes of records are stored beside their body: at least
// four addresses of either family. With them a selected has 256 bytes on 64-bit
// systems, which the runtime puts at the beginning of a cache line.
const inPlace = 4*(recordHead+16) + 16

// newSelected makes an answer of bodies.
func newSelected(bodies []body) *selected {
	if len(bodies) > 1 {
		return &selected{status: rotated, bodies: bodies}
	}
	s := &selected{alone: bodies[0]}
	b := &s.alone
	if len(b.data) <= inPlace {
		b.data = s.data[:copy(s.data[:], b.data)]
	}
	if b.names != nil {
		s.names = *b.names
		b.names = &s.names
	}
	return s
}

// selected gives what the group of s answers now.
func (r *Reply) selected(z *Zone, s *set) (*body, status) {
	now := z.slots[s.at].Load()
	switch {
	case now == nil:
		return nil, failed
	case now.status == answered:
		return &now.alone, answered
	case now.status == rotated:
		return &now.bodies[r.pick(len(now.bodies))], answered
	}
	return nil, now.status
}
