package answer

import (
	"hash/maphash"

	"gslbd/dnsserver/wire"
	"gslbd/zone"
)

// Zone is one compiled zone: its names, and an answer packed for each RRset.
// All but the slots is immutable. It may be part of any number of Tables.
type Zone struct {
	name   string // canonical, for Publish
	apex   []byte // lower-case wire form
	labels int    // of apex, without the root
	depth  int    // labels of the deepest node, beside those of apex

	seed  maphash.Seed
	index []place // open addressing; the length is a power of two
	nodes []node  // nodes[0] is the apex; parents precede children
	sets  []set
	data  []byte // names of nodes, relative to apex, each before the bodies of its static RRsets

	cuts     []cut
	glue     []glue
	negative body // the SOA of negative answers, its TTL per RFC 2308 §5

	slots  []slot
	groups map[zone.Key]steered
}

// place is an entry of the index; node 0 is the apex, which is not in the
// index, so it marks a free place. It repeats where the node's name is, so that
// memory is asked for the name and the node at the same time.
type place struct{ tag, node, name uint32 }

// node is an owner name or an empty non-terminal.
type node struct {
	name  uint32 // offset in data
	set   uint32 // index of its first RRset
	aux   uint32 // occluded: the node that governs it; cut: index in cuts; else: its wildcard child, 0 for none
	sets  uint16
	size  uint8 // bytes of its name, relative to apex
	flags uint8
}

// Flags of a node. A wildcard's NS and DNAME are plain data (RFC 4592 §4.2, §4.4).
const (
	isCut      = 1 << iota // delegation: NS, not the apex
	isOccluded             // below a cut or a DNAME
	hasCNAME
	hasDNAME
	isWildcard
)

// set is one RRset. A static one has its body at data[off]: size bytes, then
// the offsets of its pointers, then of a CNAME or DNAME its target and, in
// linkSize bytes, body.node.
type set struct {
	off      uint32
	slot     uint32 // index in slots plus 1; 0 = static
	typ      uint16
	count    uint16
	size     uint16
	pointers uint16
	stride   uint8
	target   uint8
}

// linkSize is how many bytes behind a target hold the node that it is.
const linkSize = 4

// cut is the delegation of a node.
type cut struct{ set, glue, count uint32 }

// steered is a group and where its answer goes.
type steered struct {
	group *zone.Group
	slot  uint32 // index in slots
	node  uint32
}

// base gives where the answer of a node begins in a message that asks for it.
func (z *Zone) base(n *node) int {
	return wire.HeaderSize + z.size(n) + 4
}

// size gives the length of a node's whole name in wire form.
func (z *Zone) size(n *node) int { return int(n.size) + len(z.apex) }
