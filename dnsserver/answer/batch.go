package answer

import (
	"bytes"
	"unsafe"

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
	Packet  []byte
	entry                // of the zone that answers
	node    uint32       // 0 if the name is not in the zone, or the apex
	exact   bool         // node has the name that was asked
	Outcome wire.Outcome // of reading it; only those that are OK are looked for
	wire.Query
}

// Read reads packet, which must outlive the answer.
func (q *Question) Read(packet []byte) {
	q.Packet, q.Outcome = packet, wire.Parse(packet, &q.Query)
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
	z := b.last.zone
	if !b.last.leaf || q.Type == wire.TypeDS || !z.holds(&q.Name) {
		q.entry = b.table.zone(&q.Name, q.Type)
		if z = q.zone; z == nil {
			return false
		}
		b.last = q.entry
	}
	q.entry, q.node = b.last, 0
	below := q.Name.Labels - z.labels
	q.exact = below == 0
	return below > 0 && below <= z.depth
}

// relative gives the question's name without that of its zone.
func (q *Question) relative() []byte { return q.Name.Wire[:len(q.Name.Wire)-len(q.zone.apex)] }

// Forget lets go of the table that was asked last, so that it is freed when
// another one has taken its place, and of the packets.
func (b *Batch) Forget() {
	for i := range b.used {
		q := &b.Questions[i]
		q.entry, q.Packet, q.Name.Wire, q.EDNS = entry{}, nil, nil, wire.EDNS{}
	}
	b.used, b.table, b.last = 0, nil, entry{}
}

// ahead finds many names side by side. To look one up is a chain of waits for
// memory, each for an address that the one before has found; here a link of the
// chain is gone for all names before the next, so that their waits overlap.
type ahead struct {
	n     int             // names that are still followed
	asker [MaxBatch]uint8 // their questions
	hash  [MaxBatch]uint64
	node  [MaxBatch]uint32
	sum   byte // of what was touched, so that it is
}

// find does the work of Batch.Find.
func (a *ahead) find(b *Batch, n int) {
	qs, l := b.Questions[:n], lines{}
	a.n = 0
	for i := range qs {
		if q := &qs[i]; b.enter(q) {
			h := q.zone.hash(q.relative())
			l.add(unsafe.Pointer(&q.zone.index[h&uint64(len(q.zone.index)-1)]))
			a.asker[a.n], a.hash[a.n] = uint8(i), h
			a.n++
		}
	}
	a.sum += l.touch()
	a.places(qs, &l)
	a.match(qs)
	a.fetch(qs, &l)
	a.fetch(qs, &l) // what CNAMEs lead to
}

// places takes the nodes that the indexes have at the hashes.
func (a *ahead) places(qs []Question, l *lines) {
	for i, asker := range a.asker[:a.n] {
		z, h := qs[asker].zone, a.hash[i]
		mask := uint64(len(z.index) - 1)
		at, tag := h&mask, uint32(h>>32)
		p := z.index[at]
		for p.node != 0 && p.tag != tag {
			at = (at + 1) & mask
			p = z.index[at]
		}
		a.node[i] = p.node
		if p.node != 0 {
			l.node(z, p.node)
		}
	}
	a.sum += l.touch()
}

// match goes on with those names that the nodes have.
func (a *ahead) match(qs []Question) {
	kept := 0
	for i := range a.n {
		q, at := &qs[a.asker[i]], a.node[i]
		if at == 0 {
			continue
		}
		if rel := q.relative(); !bytes.Equal(q.zone.owner(at), rel) { // another name with the same tag
			var ok bool
			if at, ok = q.zone.probe(rel, a.hash[i]); !ok {
				continue
			}
		}
		q.node, q.exact = at, true
		a.asker[kept], a.node[kept] = a.asker[i], at
		kept++
	}
	a.n = kept
}

// fetch fetches what groups answer for the nodes, and goes on with those nodes
// that CNAMEs lead to.
func (a *ahead) fetch(qs []Question, l *lines) {
	kept := 0
	for i := range a.n {
		q := &qs[a.asker[i]]
		z, to := q.zone, uint32(0)
		n := z.node(a.node[i])
		if n.sets == 0 {
			continue
		}
		if s := z.set(n.first); s.steered {
			if now := z.slots[s.at].Load(); now != nil {
				l.add(unsafe.Pointer(now))
				l.add(unsafe.Pointer(&now.data[lineSize/2]))
				if s.typ == wire.TypeCNAME && now.status == answered {
					to = now.names.node
				}
			}
		} else if s.typ == wire.TypeCNAME && q.Type != wire.TypeCNAME {
			to = z.link(s, nil)
		}
		if to != 0 {
			a.asker[kept], a.node[kept] = a.asker[i], to
			l.node(z, to)
			kept++
		}
	}
	a.n = kept
	a.sum += l.touch()
}

// maxLines is how many lines one step wants of MaxBatch questions: those of what a
// group answers, and of a node.
const maxLines = 4 * MaxBatch

// lines are pieces of memory that are wanted next. It stays on the stack, where
// pointers cost least.
type lines struct {
	n  uint
	at [maxLines]*byte
}

func (l *lines) add(at unsafe.Pointer) {
	l.at[l.n%maxLines] = (*byte)(at) // there is room; so the compiler need not check
	l.n++
}

// node adds a node; its sets and bodies end in the second line, mostly.
func (l *lines) node(z *Zone, at uint32) {
	l.add(unsafe.Pointer(&z.data[at]))
	l.add(unsafe.Pointer(&z.data[min(at+lineSize, uint32(len(z.data)-1))]))
}

// touch fetches the lines into the processor's cache: nothing but them, since the
// processor looks only some hundred instructions ahead for more to wait for.
func (l *lines) touch() (sum byte) {
	for _, at := range l.at[:l.n] {
		sum += *at
	}
	l.n = 0
	return sum
}
