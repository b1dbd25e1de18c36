package wire

import "encoding/binary"

// Limits of a name (RFC 1035 §3.1): bytes in wire form, and labels beside the root.
const (
	MaxName   = 255
	MaxLabels = 127
)

// Name is a domain name in lower-case wire form with its labels found.
type Name struct {
	Len    int
	Labels int               // without the root
	Wire   [MaxName + 1]byte // Len bytes, the root label included; the rest is undefined
	Start  [MaxLabels]uint8  // offset of each label, the leftmost first
}

// Bytes gives the name's wire form; it changes when the Name does.
func (n *Name) Bytes() []byte { return n.Wire[:n.Len] }

// Set takes the valid, uncompressed, lower-case name at the start of b.
func (n *Name) Set(b []byte) {
	off := 0
	n.Labels = 0
	for off < len(b) && b[off] != 0 && n.Labels < MaxLabels {
		n.Start[n.Labels] = uint8(off)
		n.Labels++
		off += 1 + int(b[off])
	}
	n.Len = copy(n.Wire[:], b[:off+1])
}

// Suffix gives the offset in Wire of the suffix of that many labels.
func (n *Name) Suffix(labels int) int {
	if labels <= 0 {
		return n.Len - 1
	}
	return int(n.Start[n.Labels-labels])
}

// Read takes the name of the question of a packet that has a header, and tells
// whether there is one. It must not be compressed: there is nothing before it to
// point at.
func (n *Name) Read(p []byte) bool {
	b := p[HeaderSize:]
	off, labels := 0, 0
	for {
		if off >= len(b) || off >= MaxName {
			return false
		}
		l := int(b[off])
		if l == 0 {
			break
		}
		if l > 63 || labels == MaxLabels {
			return false
		}
		n.Start[labels] = uint8(off)
		labels++
		off += 1 + l
	}
	n.Len, n.Labels = off+1, labels
	n.lower(b)
	return true
}

// lower copies the first Len bytes of b in lower case, eight at a time, the last
// eight over again. Length bytes are below 'A' and so stay as they are.
func (n *Name) lower(b []byte) {
	if n.Len < 8 {
		for i := range n.Len {
			n.Wire[i] = Lower(b[i])
		}
		return
	}
	last := n.Len - 8
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
