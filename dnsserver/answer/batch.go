package answer

import (
	"bytes"

	"gslbd/dnsserver/wire"
)

// MaxBatch is how many questions a Batch has at most.
const MaxBatch = 64

// minAhead is from how many questions on it gains more than it costs to find
// them side by side.
const minAhead = 4

// lineSize is how much memory is fetched at once, in bytes.
const lineSize = 64

// Question is a query, and where the answer to it begins.
type Question struct {
	Outcome wire.Outcome // of reading the query; only those that are OK are looked for
	exact   bool         // node has the name that was asked
	node    uint32       // 0 if the name is not in the zone, or the apex
	entry                // of the zone that answers
	wire.Query
}

// Batch is the queries that one goroutine answers at a time: each is read into
// its Question, Find looks for all of them, and then each has its Lookup.
type Batch struct {
	Questions []Question
	table     *Table // that Find had
	last      entry  // of the question before
	used      int    // questions that may hold on to a table
	ahead     *ahead // nil if there are too few questions
}

// NewBatch makes a Batch of up to MaxBatch questions.
func NewBatch(size int) *Batch {
	b := &Batch{Questions: make([]Question, min(size, MaxBatch))}
	if size >= minAhead {
		b.ahead = new(ahead)
	}
	return b
}

// Find looks for the names of the first n questions, for the answers that t is
// to give; a nil table holds no zone.
func (b *Batch) Find(t *Table, n int) {
	if b.table != t {
		b.table, b.last = t, entry{}
	}
	b.used = max(b.used, n)
	if n >= minAhead {
		b.ahead.find(b, n)
		return
	}
	for i := range n {
		q := &b.Questions[i]
		if b.enter(q) {
			rel := q.relative()
			q.node, q.exact = q.zone.probe(rel, q.zone.hash(rel))
		}
	}
}

// enter finds the zone of a question, and tells whether its index may have the name.
func (b *Batch) enter(q *Question) bool {
	if q.Outcome != wire.OK {
		return false
	}
	q.entry, q.node = b.table.zone(&q.Name, q.Type, b.last), 0
	if q.zone == nil {
		return false
	}
	b.last = q.entry
	below := q.Name.Labels - q.zone.labels
	q.exact = below == 0
	return below > 0 && below <= q.zone.depth
}

// relative gives the question's name without that of its zone.
func (q *Question) relative() []byte { return q.Name.Wire[:q.Name.Len-len(q.zone.apex)] }

// Forget lets go of the table that was asked last, so that it is freed when
// another one has taken its place.
func (b *Batch) Forget() {
	for i := range b.used {
		b.Questions[i].entry = entry{}
	}
	b.used, b.table, b.last = 0, nil, entry{}
}

// ahead finds many names side by side. To look one up is a chain of waits for
// memory, each for an address that the one before has found; here a link of the
// chain is gone for all names before the next, so that their waits overlap.
// Beyond the node it only fetches what the answer will read into the processor's cache.
type ahead struct {
	n     int             // names that are still followed
	asker [MaxBatch]uint8 // their questions
	hash  [MaxBatch]uint64
	node  [MaxBatch]uint32
	first [MaxBatch]uint32 // RRset of the node, its offset
	set   [MaxBatch]set
	now   [MaxBatch]*selected
	sum   uint32 // of what was touched, so that it is
}

// find does the work of Batch.Find.
func (a *ahead) find(b *Batch, n int) {
	a.n = 0
	for i := range n {
		if q := &b.Questions[i]; b.enter(q) {
			a.asker[a.n], a.hash[a.n] = uint8(i), q.zone.hash(q.relative())
			a.n++
		}
	}
	a.places(b.Questions)
	a.match(b.Questions)
	a.chase(b.Questions)
	a.targets(b.Questions)
	a.chase(b.Questions)
}

// places takes the nodes that the indexes have at the hashes.
func (a *ahead) places(qs []Question) {
	for i := range a.n {
		z := qs[a.asker[i]].zone
		mask := uint64(len(z.index) - 1)
		at, tag := a.hash[i]&mask, uint32(a.hash[i]>>32)
		for z.index[at].node != 0 && z.index[at].tag != tag {
			at = (at + 1) & mask
		}
		a.node[i] = z.index[at].node
	}
}

// match goes on with those names that the nodes have.
func (a *ahead) match(qs []Question) {
	kept := 0
	for i := range a.n {
		q, at := &qs[a.asker[i]], a.node[i]
		if at == 0 {
			continue
		}
		exact := true
		if rel := q.relative(); !bytes.Equal(q.zone.owner(at), rel) { // another name with the same tag
			if at, exact = q.zone.probe(rel, a.hash[i]); !exact {
				continue
			}
		}
		q.node, q.exact = at, true
		a.follow(kept, a.asker[i], q.zone, at)
		kept++
	}
	a.n = kept
}

// follow makes the node at the i-th that is followed, for a question.
func (a *ahead) follow(i int, asker uint8, z *Zone, at uint32) {
	a.asker[i], a.first[i] = asker, z.node(at).first
	a.touch(z, at+lineSize) // mostly also its sets and bodies
}

// touch fetches the line of a zone's data at an offset.
func (a *ahead) touch(z *Zone, at uint32) {
	a.sum += uint32(z.data[min(at, uint32(len(z.data)-1))])
}

// chase fetches the answers of the nodes.
func (a *ahead) chase(qs []Question) {
	for i := range a.n {
		a.set[i] = set{}
		if a.first[i] != 0 {
			a.set[i] = *qs[a.asker[i]].zone.set(a.first[i])
		}
	}
	for i := range a.n {
		z := qs[a.asker[i]].zone
		a.now[i] = nil
		if s := &a.set[i]; s.steered {
			a.now[i] = z.slots[s.at].Load()
		} else {
			a.touch(z, s.at)
		}
	}
	for i := range a.n {
		if now := a.now[i]; now != nil { // what put reads of it, a cache line each
			a.sum += uint32(now.status) + uint32(now.data[0]) + uint32(now.data[lineSize/2])
		}
	}
}

// targets goes on with the nodes that the CNAMEs among the RRsets lead to.
func (a *ahead) targets(qs []Question) {
	kept := 0
	for i := range a.n {
		s, at := &a.set[i], uint32(0)
		if s.typ != wire.TypeCNAME {
			continue
		}
		z := qs[a.asker[i]].zone
		if now := a.now[i]; now != nil {
			at = now.alone.node
		} else {
			at = z.link(s)
		}
		if at != 0 {
			a.follow(kept, a.asker[i], z, at)
			kept++
		}
	}
	a.n = kept
}
