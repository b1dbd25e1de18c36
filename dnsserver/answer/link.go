package answer

import (
	"encoding/binary"

	"gslbd/dnsserver/wire"
)

// link notes with a node's static CNAME where its target is, so that a query
// need not look it up.
func (c *compiler) link(m made) {
	z := c.z
	n := z.node(m.node)
	if n.flags&hasCNAME == 0 {
		return
	}
	if s := z.rrset(n, wire.TypeCNAME); !s.steered {
		binary.LittleEndian.PutUint32(z.data[s.at-linkSize:], z.nodeOf(z.target(s)))
	}
}

// nodeOf gives the node of a name in lower-case wire form, 0 if it is not in the
// zone, does not exist in it, or is the apex.
func (z *Zone) nodeOf(target []byte) uint32 {
	var name wire.Name
	name.Set(target)
	if !z.holds(&name) {
		return 0
	}
	if at, exact := z.find(&name); exact {
		return at
	}
	return 0
}

// link gives where the target of a CNAME is, see nodeOf; b is what its group
// answers, nil where it has none.
func (z *Zone) link(s *set, b *body) uint32 {
	switch {
	case b != nil:
		return b.names.node
	case s.target == 0:
		return 0
	}
	return binary.LittleEndian.Uint32(z.data[s.at-linkSize:])
}
