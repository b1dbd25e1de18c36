package wire

import "encoding/binary"

// Limits of a name (RFC 1035 §3.1): bytes in wire form, and labels beside the root.
const (
	MaxName   = 255
	MaxLabels = 127
)

// Name is a domain name in lower-case wire form with its labels found.
type Name struct {
	Wire   []byte               // the root label included; part of the packet that was read, or of own
	Labels int                  // without the root
	Start  [MaxLabels + 1]uint8 // offset of each label, the leftmost first
	own    [MaxName]byte
}

// Set takes a copy of the valid, uncompressed, lower-case name at the start of b.
func (n *Name) Set(b []byte) {
	off := 0
	n.Labels = 0
	for off < len(b) && b[off] != 0 && n.Labels < MaxLabels {
		n.Start[n.Labels] = uint8(off)
		n.Labels++
		off += 1 + int(b[off])
	}
	n.Wire = n.own[:copy(n.own[:], b[:off+1])]
}

// Suffix gives the offset in Wire of the suffix of that many labels.
func (n *Name) Suffix(labels int) int {
	if labels <= 0 {
		return len(n.Wire) - 1
	}
	return int(n.Start[n.Labels-labels])
}

// Read takes the name of the question of a packet that has a header, and gives its
// length, 0 if there is none. It must not be compressed: there is nothing before it
// to point at.
func (n *Name) Read(p []byte) int {
	b := p[HeaderSize:]
	b = b[:min(len(b), MaxName)]
	off, labels := 0, 0
	for off < len(b) {
		l := uint(b[off])
		if l-1 < 63 {
			n.Start[labels&MaxLabels] = uint8(off) // no more fit into MaxName
			labels++
			off += 1 + int(l)
			continue
		}
		if l > 0 {
			return 0
		}
		n.Wire, n.Labels = b[:off+1], labels
		if perhapsCapital(n.Wire) {
			n.lower()
		}
		return off + 1
	}
	return 0
}

// perhapsCapital tells whether a name has a byte from 0x40 to 0x5f, as capitals
// are. Length bytes are lower.
func perhapsCapital(b []byte) bool {
	const each = 0x4040404040404040
	found := uint64(0)
	if len(b) < 8 {
		for _, c := range b {
			found |= uint64(c &^ (c << 1))
		}
		return found&each != 0
	}
	last := len(b) - 8
	for i := 0; i < last; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		found |= x &^ (x << 1)
	}
	x := binary.LittleEndian.Uint64(b[last:])
	return (found|x&^(x<<1))&each != 0
}

// lower makes Wire a copy in lower case: eight bytes at a time, the last eight over again.
func (n *Name) lower() {
	b := n.Wire
	n.Wire = n.own[:len(b)]
	last := len(b) - 8
	if last < 0 {
		for i, c := range b {
			n.own[i] = Lower(c)
		}
		return
	}
	for i := 0; i < last; i += 8 {
		binary.LittleEndian.PutUint64(n.Wire[i:], lower8(binary.LittleEndian.Uint64(b[i:])))
	}
	binary.LittleEndian.PutUint64(n.Wire[last:], lower8(binary.LittleEndian.Uint64(b[last:])))
}

// lower8 lowers eight ASCII bytes at once.
func lower8(x uint64) uint64 {
	const each = 0x0101010101010101
	low := x & (0x7f * each)
	aboveZ := low + (0x7f-'Z')*each // high bit of a byte: above 'Z'
	fromA := low + (0x80-'A')*each  // high bit of a byte: 'A' or above
	upper := (fromA ^ aboveZ) & ^x & (0x80 * each)
	return x | upper>>2
}

// Lower gives the lower case of an ASCII letter, and any other byte as it is.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
