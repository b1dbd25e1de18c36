package answer

import (
	"bytes"
	"hash/maphash"

	"gslbd/dnsserver/wire"
)

// rrset gives the node's RRset of a type, nil for none.
func (z *Zone) rrset(n *node, typ uint16) *set {
	for at, left := n.first, n.sets; left > 0; at, left = at+setSize, left-1 {
		if s := z.set(at); s.typ == typ {
			return s
		}
	}
	return nil
}

// ofType gives the index of the RRset of a type, -1 for none.
func ofType(sets []set, typ uint16) int {
	for i := range sets {
		if sets[i].typ == typ {
			return i
		}
	}
	return -1
}

// holds tells whether name is the apex or below it.
func (z *Zone) holds(name *wire.Name) bool {
	return name.Labels >= z.labels && bytes.Equal(name.Wire[name.Suffix(z.labels):], z.apex)
}

// hash gives the hash of a name relative to apex.
func (z *Zone) hash(rel []byte) uint64 { return maphash.Bytes(z.seed, rel) }

// probe looks up a name relative to apex, which is not empty, by its hash.
func (z *Zone) probe(rel []byte, h uint64) (uint32, bool) {
	mask := uint64(len(z.index) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		p := &z.index[i]
		if p.node == 0 {
			return 0, false
		}
		if p.tag != uint32(h>>32) {
			continue
		}
		if bytes.Equal(z.owner(p.node), rel) {
			return p.node, true
		}
	}
}

// find gives the node of name, which is in the zone, or else its closest encloser.
func (z *Zone) find(name *wire.Name) (uint32, bool) {
	below := name.Labels - z.labels
	if below == 0 {
		return 0, true
	}
	if below <= z.depth {
		rel := name.Wire[:len(name.Wire)-len(z.apex)]
		if i, ok := z.probe(rel, z.hash(rel)); ok {
			return i, true
		}
	}
	return z.encloser(name), false
}

// encloser gives the closest encloser (RFC 4592 §3.3.1) of name, which is in the
// zone but has no node. Ancestors of a node always exist, so it is found by
// bisection: a flood of deep random names costs a few probes each.
func (z *Zone) encloser(name *wire.Name) (best uint32) {
	end := len(name.Wire) - len(z.apex)
	for low, high := 0, min(name.Labels-z.labels-1, z.depth); low < high; {
		mid := (low + high + 1) / 2
		rel := name.Wire[name.Suffix(z.labels+mid):end]
		if i, ok := z.probe(rel, z.hash(rel)); ok {
			best, low = i, mid
		} else {
			high = mid - 1
		}
	}
	return best
}
