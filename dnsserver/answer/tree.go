package answer

import (
	"fmt"
	"strings"

	"gslbd/dnsserver/wire"
	"gslbd/zone"
)

// enterOwner finds or makes the node of a name and of every name between it
// and the apex.
func (c *compiler) enterOwner(name string) error {
	z := c.z
	rel, ok := strings.CutSuffix(name, c.src.Name)
	if c.src.Name == "." && name != "." {
		rel, ok = name, true
	}
	if !ok {
		return fmt.Errorf("the name is outside the zone %s", zone.Display(c.src.Name))
	}
	var err error
	if c.owner, err = appendLabels(c.owner[:0], rel); err != nil {
		return err
	}
	size := len(c.owner)
	c.owner = append(lower(c.owner), z.apex...)
	if len(c.owner) > wire.MaxName {
		return fmt.Errorf("the name is longer than %d bytes", wire.MaxName)
	}
	c.node = 0
	if size > 0 {
		c.node = c.enter(c.owner[:size])
	}
	return nil
}

// made is a node that the compiler has made, and the one above it.
type made struct{ node, parent uint32 }

// enter gives the node of a name relative to apex, making it and its ancestors
// where needed: parents before children.
func (c *compiler) enter(rel []byte) uint32 {
	z := c.z
	h := z.hash(rel)
	if at, ok := z.probe(rel, h); ok {
		return at
	}
	parent := uint32(0)
	if up := rel[1+rel[0]:]; len(up) > 0 {
		parent = c.enter(up)
	}
	if 2*len(c.made) >= len(z.index) {
		z.grow(c.made)
	}
	at := c.append(rel)
	if rel[0] == 1 && rel[1] == '*' {
		z.node(at).flags = isWildcard
		z.node(parent).aux = at
	}
	c.made = append(c.made, made{at, parent})
	z.enter(h, at)
	depth := 0
	for ; len(rel) > 0; rel = rel[1+rel[0]:] {
		depth++
	}
	z.depth = max(z.depth, depth)
	return at
}

// append puts a new node at the end of data.
func (c *compiler) append(rel []byte) uint32 {
	at := c.align()
	n := [1]node{{size: uint8(len(rel))}}
	c.z.data = append(append(c.z.data, memory(n[:])...), rel...)
	return at
}

// align fills data up to where a node or set may begin, and gives that offset.
func (c *compiler) align() uint32 {
	for uint32(len(c.z.data))%align != 0 {
		c.z.data = append(c.z.data, 0)
	}
	return uint32(len(c.z.data))
}

// settle appends the sets of the node at hand, and their bodies, to data.
func (c *compiler) settle() {
	if len(c.sets) == 0 {
		return
	}
	first := c.align()
	n := c.z.node(c.node)
	n.first, n.sets = first, uint16(len(c.sets))
	for i := range c.sets {
		if s := &c.sets[i]; !s.steered {
			s.at += first + uint32(len(c.sets))*setSize
		}
	}
	c.z.data = append(append(c.z.data, memory(c.sets)...), c.bodies...)
	c.sets, c.bodies = c.sets[:0], c.bodies[:0]
}

// occlude marks a node that is below a cut or a DNAME; the one above it comes first.
func (c *compiler) occlude(m made) {
	n, up := c.z.node(m.node), c.z.node(m.parent)
	switch {
	case up.flags&isOccluded != 0:
		n.flags |= isOccluded
		n.aux = up.aux
	case up.flags&(isCut|hasDNAME) != 0:
		n.flags |= isOccluded
		n.aux = m.parent
	}
}

// grow makes the index twice as large as these nodes need, and fills it anew.
func (z *Zone) grow(nodes []made) {
	z.index = make([]place, indexSize(2*len(nodes)+2))
	for _, m := range nodes {
		z.enter(z.hash(z.owner(m.node)), m.node)
	}
}

// indexSize is how long the index is for so many nodes.
func indexSize(nodes int) int {
	size := 16
	for size < 2*nodes {
		size *= 2
	}
	return size
}

// reindex makes the index in pieces, with a rest after each.
func (z *Zone) reindex(nodes []uint32, rest func()) {
	const piece = 250 // nodes
	zeros := make([]byte, flatPiece)
	z.index = gather[place](indexSize(len(nodes)+1), rest, func(size int) []byte { return zeros[:size] })
	for i, at := range nodes {
		if i%piece == 0 {
			rest()
		}
		z.enter(z.hash(z.owner(at)), at)
	}
}

// enter puts a node in the index by the hash of its name.
func (z *Zone) enter(h uint64, node uint32) {
	mask := uint64(len(z.index) - 1)
	at := h & mask
	for z.index[at].node != 0 {
		at = (at + 1) & mask
	}
	z.index[at] = place{uint32(h >> 32), node}
}

// nodes gives the nodes but that of apex, in the order of data, with a rest
// after every microsecond or two.
func (z *Zone) nodes(rest func()) []uint32 {
	begins := make([]bool, len(z.data)/int(align)) // a node, at each place where one may
	for i, p := range z.index {
		begins[p.node/align] = true
		if i%32 == 0 {
			rest()
		}
	}
	all := make([]uint32, 0, len(z.index)/2)
	for i, yes := range begins {
		if i > 0 && yes {
			all = append(all, uint32(i)*align)
		}
		if i%1024 == 0 {
			rest()
		}
	}
	return all
}
