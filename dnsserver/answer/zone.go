package answer

import (
	"hash/maphash"
	"unsafe"

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
	data  []byte  // nodes, see node; that of apex is at 0

	cuts     []cut
	glue     []glue
	negative body // the SOA of negative answers, its TTL per RFC 2308 §5

	slots  []slot
	groups map[zone.Key]steered
}

// place is an entry of the index. A node is told by its offset in data; that of
// apex, 0, is not in the index, so it marks a free place.
type place struct{ tag, node uint32 }

// node is an owner name or an empty non-terminal. In data its name, relative to
// apex, is behind it; then, if nothing came between, its sets and the bodies of
// the static ones: what one answer needs is in one or two cache lines.
type node struct {
	first uint32 // offset in data of its sets
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

// set is one RRset. A static one has its body at data[at]: size bytes, then the
// offsets of its pointers, then of a CNAME or DNAME the target. Before it, in
// linkSize bytes, such a one has body.node.
type set struct {
	at       uint32 // steered: index in slots
	typ      uint16
	count    uint16
	size     uint16
	pointers uint16
	stride   uint8
	target   uint8
	steered  bool
}

// Sizes of what is in data, where nodes and sets begin at multiples of align.
const (
	nodeSize = uint32(unsafe.Sizeof(node{}))
	setSize  = uint32(unsafe.Sizeof(set{}))
	align    = uint32(unsafe.Alignof(set{}))
	linkSize = 4
)

// cut is the delegation of a node.
type cut struct{ set, glue, count uint32 }

// steered is a group and where its answer goes.
type steered struct {
	group *zone.Group
	slot  uint32 // index in slots
	node  uint32
}

// node gives the node at an offset, valid until data grows.
func (z *Zone) node(at uint32) *node { return (*node)(unsafe.Pointer(&z.data[at])) }

// set gives the RRset at an offset, valid until data grows.
func (z *Zone) set(at uint32) *set { return (*set)(unsafe.Pointer(&z.data[at])) }

// sets gives the RRsets of a node, valid until data grows.
func (z *Zone) sets(n *node) []set {
	if n.sets == 0 {
		return nil
	}
	return unsafe.Slice(z.set(n.first), n.sets)
}

// owner gives the name of the node at an offset, relative to apex.
func (z *Zone) owner(at uint32) []byte {
	return z.data[at+nodeSize:][:z.node(at).size]
}

// base gives where the answer of a node begins in a message that asks for it.
func (z *Zone) base(n *node) int {
	return wire.HeaderSize + z.size(n) + 4
}

// size gives the length of a node's whole name in wire form.
func (z *Zone) size(n *node) int { return int(n.size) + len(z.apex) }

// records gives the body of a static RRset.
func (z *Zone) records(s *set) []byte { return z.data[s.at : s.at+uint32(s.size)] }

// pointers gives what body.ptrs is of a group.
func (z *Zone) pointers(s *set) []byte {
	at := s.at + uint32(s.size)
	return z.data[at : at+2*uint32(s.pointers)]
}

// target gives the name that a static CNAME or DNAME leads to.
func (z *Zone) target(s *set) []byte {
	at := s.at + uint32(s.size) + 2*uint32(s.pointers)
	return z.data[at : at+uint32(s.target)]
}
