package answer

import "sync/atomic"

// slot holds what a group answers now; nil until the first Publish.
type slot = atomic.Pointer[selected]

// status says whether an RRset has an answer.
type status uint8

const (
	answered status = iota
	noData
	failed
)

// selected is a compiled selection. What is served stands in one piece of memory
// where it can, so that a reader waits for memory once.
type selected struct {
	status status
	bodies []body // for answered: one of them is served

	alone [1]body // bodies, if there is one
	data  [inPlace]byte
}

// inPlace is how many bytes of records are stored beside their body: four
// addresses of either family.
const inPlace = 4 * (recordHead + 16)

// newSelected makes an answer of bodies.
func newSelected(bodies []body) *selected {
	s := &selected{status: answered, bodies: bodies}
	if len(bodies) == 1 {
		s.alone[0] = bodies[0]
		s.bodies = s.alone[:]
		if b := &s.alone[0]; len(b.data) <= inPlace {
			b.data = s.data[:copy(s.data[:], b.data)]
		}
	}
	return s
}

// load gives the body of s, whose owner's reference question ends at base. It
// is valid until the next load.
func (r *Reply) load(z *Zone, s *set, base int) (*body, status) {
	if s.steered {
		now := z.slots[s.at].Load()
		if now == nil {
			return nil, failed
		}
		if now.status != answered {
			return nil, now.status
		}
		if len(now.bodies) == 1 {
			return &now.bodies[0], answered
		}
		return &now.bodies[r.pick(len(now.bodies))], answered
	}
	b := &r.static
	end := s.at + uint32(s.size)
	b.data = z.data[s.at:end]
	b.stride, b.count, b.window, b.base = int(s.stride), int(s.count), int(s.count), base
	if s.stride == 0 {
		b.ptrs = z.data[end : end+2*uint32(s.pointers)]
		b.target, b.node = z.target(s), z.link(s)
	}
	return b, answered
}

// target gives the name that a static CNAME or DNAME leads to.
func (z *Zone) target(s *set) []byte {
	at := s.at + uint32(s.size) + 2*uint32(s.pointers)
	return z.data[at : at+uint32(s.target)]
}
