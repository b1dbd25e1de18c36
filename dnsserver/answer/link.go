package answer

import (
	"encoding/binary"

	"gslbd/dnsserver/wire"
)

// linkTargets notes with every static CNAME where its target is, so that a
// query need not look it up.
func (z *Zone) linkTargets(rest func()) {
	for i := range z.sets {
		if s := &z.sets[i]; s.typ == wire.TypeCNAME && s.target != 0 {
			binary.LittleEndian.PutUint32(z.data[s.linkAt():], z.nodeOf(z.target(s)))
			rest()
		}
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
	if i, exact := z.find(&name); exact {
		return i
	}
	return 0
}

// link gives body.node of a static RRset.
func (z *Zone) link(s *set) uint32 {
	if s.target == 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(z.data[s.linkAt():])
}

// linkAt gives where a CNAME or DNAME has its link.
func (s *set) linkAt() uint32 {
	return s.off + uint32(s.size) + 2*uint32(s.pointers) + uint32(s.target)
}
