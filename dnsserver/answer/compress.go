package answer

import (
	"encoding/binary"

	"gslbd/dnsserver/wire"
)

// domain appends a name, compressed.
func (p *packer) domain(text string) error {
	name, err := appendName(p.name[:0], text)
	p.name = name
	if err != nil {
		return err
	}
	full := len(p.names)
	p.names = append(p.names, name...)
	low := lower(p.names[full:])
	for off := 0; off < len(name); off += 1 + int(name[off]) {
		if to, ok := p.seen(low[off:]); ok {
			p.data = append(p.data, name[:off]...)
			p.pointer(to)
			return nil
		}
		if len(p.data)+off < maxInside && len(p.known) < maxKnown && name[off] != 0 {
			p.known = append(p.known, known{full + off, full + len(name), len(p.data) + off})
		}
	}
	p.data = append(p.data, name...)
	return nil
}

// seen gives the offset, in the message packed for, where a name stands already.
func (p *packer) seen(name []byte) (int, bool) {
	if len(name) == 1 {
		return 0, false
	}
	if string(name) == string(p.owner) {
		return wire.HeaderSize, true
	}
	if string(name) == string(p.apex) {
		return wire.HeaderSize + p.size - len(p.apex), true
	}
	for _, k := range p.known {
		// A name is not compressed against itself: its own entries are longer or not yet there.
		if string(p.names[k.start:k.end]) == string(name) {
			return wire.HeaderSize + p.size + 4 + k.off, true
		}
	}
	return 0, false
}

// pointer appends a compression pointer and notes where it is.
func (p *packer) pointer(to int) {
	p.ptrs = binary.BigEndian.AppendUint16(p.ptrs, uint16(len(p.data)))
	p.data = append(p.data, byte(0xc0|to>>8), byte(to))
}
