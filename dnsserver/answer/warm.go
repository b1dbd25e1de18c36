package answer

import "gslbd/dnsserver/wire"

// maxWarm is how many queries Warm looks at, at most.
const maxWarm = 64

// minWarm is from how many on it gains more than it costs.
const minWarm = 4

// lineSize is how much memory is fetched at once, in bytes.
const lineSize = 64

// warm is the memory of Warm: what each query has led to so far.
type warm struct {
	name  wire.Name
	hash  [maxWarm]uint64
	place [maxWarm]place
	first [maxWarm]uint32 // RRset of the node, its offset
	set   [maxWarm]set
	now   [maxWarm]*selected
	sum   uint32 // of what was touched, so that it is
}

// Warm fetches what the answers to n queries need into the processor's cache,
// and changes nothing else. To look a name up is a chain of waits for memory,
// each for an address that the one before has found; here a link of the chain is
// gone for all queries before the next, so that their waits overlap. Only names
// in the zone that was asked last are looked at, and the target of a CNAME
// that is in it too; query gives the packets, valid or not.
func (r *Reply) Warm(t *Table, n int, query func(int) []byte) {
	z := r.zone
	if n = min(n, maxWarm); n < minWarm || t == nil || r.table != t || z == nil {
		return
	}
	w := &r.warm
	for i := range n {
		w.hash[i] = z.hashOf(&w.name, query(i))
	}
	w.places(z, n)
	w.chase(z, n)
	if n = w.targets(z, n); n > 0 {
		w.chase(z, n)
	}
}

// places fetches where the index has the first n names, by their hashes.
func (w *warm) places(z *Zone, n int) {
	mask := uint64(len(z.index) - 1)
	for i := range n {
		at, tag := w.hash[i]&mask, uint32(w.hash[i]>>32)
		for z.index[at].node != 0 && z.index[at].tag != tag {
			at = (at + 1) & mask
		}
		w.place[i] = z.index[at]
	}
}

// chase fetches all of the answers to the first n names, by their places.
func (w *warm) chase(z *Zone, n int) {
	sum, last := uint32(0), uint32(len(z.data)-1)
	for i := range n { // the node and its name, mostly also its sets and bodies
		at := w.place[i].node
		w.first[i] = z.node(at).first
		sum += uint32(z.data[min(at+lineSize, last)])
	}
	for i := range n {
		w.set[i] = set{}
		if w.first[i] != 0 {
			w.set[i] = *z.set(w.first[i])
		}
	}
	for i := range n {
		w.now[i] = nil
		if s := &w.set[i]; s.steered {
			w.now[i] = z.slots[s.at].Load()
		} else {
			sum += uint32(z.data[min(s.at, last)])
		}
	}
	for i := range n {
		if now := w.now[i]; now != nil { // what put reads of it, a cache line each
			sum += uint32(now.status) + uint32(now.alone[0].window) + uint32(now.data[0]) + uint32(now.data[inPlace/2])
		}
	}
	w.sum = sum
}

// targets takes the nodes that the CNAMEs among the n RRsets lead to, and gives
// their number.
func (w *warm) targets(z *Zone, n int) (found int) {
	for i := range n {
		s, node := &w.set[i], uint32(0)
		if s.typ != wire.TypeCNAME {
			continue
		}
		if now := w.now[i]; now != nil {
			node = now.alone[0].node
		} else {
			node = z.link(s)
		}
		if node != 0 {
			w.place[found] = place{node: node}
			found++
		}
	}
	return found
}

// hashOf gives the hash of the name that a packet asks for, 0 if it is none of
// this zone's.
func (z *Zone) hashOf(name *wire.Name, packet []byte) uint64 {
	if len(packet) < wire.HeaderSize || !name.Read(packet) || !z.holds(name) {
		return 0
	}
	return z.hash(name.Wire[:name.Len-len(z.apex)])
}
