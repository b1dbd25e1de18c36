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

// enter gives the node of a name relative to apex, making it and its ancestors
// where needed: parents before children.
func (c *compiler) enter(rel []byte) uint32 {
	z := c.z
	h := z.hash(rel)
	if i, ok := z.probe(rel, h); ok {
		return i
	}
	parent := uint32(0)
	if up := rel[1+rel[0]:]; len(up) > 0 {
		parent = c.enter(up)
	}
	if 2*len(z.nodes) >= len(z.index) {
		z.grow(2 * len(z.nodes))
	}
	i := uint32(len(z.nodes))
	n := node{name: uint32(len(z.data)), size: uint8(len(rel))}
	if rel[0] == 1 && rel[1] == '*' {
		n.flags = isWildcard
		z.nodes[parent].aux = i
	}
	z.data = append(z.data, rel...)
	z.nodes = append(z.nodes, n)
	c.parents = append(c.parents, parent)
	z.enter(h, i)
	depth := 0
	for ; len(rel) > 0; rel = rel[1+rel[0]:] {
		depth++
	}
	z.depth = max(z.depth, depth)
	return i
}

// occlude marks what is below a cut or a DNAME.
func (c *compiler) occlude() {
	nodes := c.z.nodes
	for i := 1; i < len(nodes); i++ {
		up := &nodes[c.parents[i]]
		switch {
		case up.flags&isOccluded != 0:
			nodes[i].flags |= isOccluded
			nodes[i].aux = up.aux
		case up.flags&(isCut|hasDNAME) != 0:
			nodes[i].flags |= isOccluded
			nodes[i].aux = c.parents[i]
		}
	}
}

// grow makes the index fit for so many nodes and fills it anew.
func (z *Zone) grow(nodes int) {
	z.index = make([]place, indexSize(nodes))
	z.fill(1, len(z.nodes))
}

// indexSize is how long the index is for so many nodes.
func indexSize(nodes int) int {
	size := 16
	for size < 2*nodes {
		size *= 2
	}
	return size
}

// fill enters the nodes from first up to end.
func (z *Zone) fill(first, end int) {
	for i := first; i < end; i++ {
		n := &z.nodes[i]
		z.enter(z.hash(z.data[n.name:n.name+uint32(n.size)]), uint32(i))
	}
}

// reindex makes the index in pieces, with a rest after each.
func (z *Zone) reindex(rest func()) {
	const piece = 250 // nodes
	zeros := make([]byte, flatPiece)
	z.index = gather[place](indexSize(len(z.nodes)), rest, func(size int) []byte { return zeros[:size] })
	for i := 1; i < len(z.nodes); i += piece {
		z.fill(i, min(i+piece, len(z.nodes)))
		rest()
	}
}

// enter puts a node in the index by the hash of its name.
func (z *Zone) enter(h uint64, i uint32) {
	mask := uint64(len(z.index) - 1)
	at := h & mask
	for z.index[at].node != 0 {
		at = (at + 1) & mask
	}
	z.index[at] = place{uint32(h >> 32), i, z.nodes[i].name}
}
