package answer

import (
	"encoding/binary"
	"slices"

	"github.com/miekg/dns"

	"gslbd/dnsserver/wire"
)

// delegate finds the glue of every cut.
func (c *compiler) delegate() {
	z := c.z
	for _, d := range c.cuts {
		n := z.node(d.node)
		if n.flags&isOccluded != 0 {
			continue
		}
		n.aux = uint32(len(z.cuts))
		at := z.offset(n, dns.TypeNS)
		s := z.set(at)
		entry := cut{set: at, glue: uint32(len(z.glue))}
		z.glue = append(z.glue, z.glueOf(z.data[s.at:s.at+uint32(s.size)], d.rrset.RRs, d.node)...)
		entry.count = uint32(len(z.glue)) - entry.glue
		z.cuts = append(z.cuts, entry)
	}
}

// glueOf finds the addresses that this zone holds for the name servers rrs of
// the cut, packed in data: those that must be there first.
func (z *Zone) glueOf(data []byte, rrs []dns.RR, cut uint32) []glue {
	var found []glue
	var name wire.Name
	for pos, i := recordHead, 0; i < len(rrs); i++ {
		if ns, ok := rrs[i].(*dns.NS); ok {
			found = append(found, z.addresses(&name, ns.Ns, pos, cut)...)
		}
		pos += recordHead + int(binary.BigEndian.Uint16(data[pos-2:]))
	}
	slices.SortStableFunc(found, func(a, b glue) int {
		switch {
		case a.must == b.must:
			return 0
		case a.must:
			return -1
		}
		return 1
	})
	return found
}

// addresses gives the A and AAAA RRsets of a server whose name stands at pos.
func (z *Zone) addresses(name *wire.Name, server string, pos int, cut uint32) (found []glue) {
	b, err := appendName(nil, server)
	if err != nil || pos >= maxPointer {
		return nil
	}
	name.Set(lower(b))
	if !z.holds(name) {
		return nil
	}
	i, ok := z.find(name)
	if !ok {
		return nil
	}
	n := z.node(i)
	if n.flags&isOccluded != 0 && z.node(n.aux).flags&isCut == 0 {
		return nil // hidden by a DNAME
	}
	must := i == cut || n.flags&isOccluded != 0 && n.aux == cut
	for _, typ := range [...]uint16{dns.TypeA, dns.TypeAAAA} {
		if at := z.offset(n, typ); at != 0 {
			found = append(found, glue{at, uint16(pos), must})
		}
	}
	return found
}

// offset gives where the node's RRset of a type is in data, 0 for none.
func (z *Zone) offset(n *node, typ uint16) uint32 {
	if i := ofType(z.sets(n), typ); i >= 0 {
		return n.first + uint32(i)*setSize
	}
	return 0
}
