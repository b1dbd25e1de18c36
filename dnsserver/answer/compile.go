package answer

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"

	"github.com/miekg/dns"

	"gslbd/dnsserver/wire"
	"gslbd/zone"
)

// compiler builds a Zone.
type compiler struct {
	z       *Zone
	src     *zone.Zone
	pack    packer
	parents []uint32 // of each node
	owner   []byte   // of the RRset at hand, lower-case wire form
	node    uint32   // of owner
	cuts    []delegation
}

// delegation is an NS RRset that may be a cut.
type delegation struct {
	node, set uint32
	rrset     *zone.RRset
}

// CompileZone packs a zone. Its groups answer SERVFAIL until they are
// published. An error names the RRset, and file and line where they are known.
func CompileZone(src *zone.Zone) (*Zone, error) { return CompileGently(src, func() {}) }

// CompileGently is CompileZone that calls rest after each RRset, which takes a
// microsecond: what runs beside it can have its turn there.
func CompileGently(src *zone.Zone, rest func()) (*Zone, error) {
	c, err := newCompiler(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.File, err)
	}
	for i := range src.RRsets {
		if err := c.add(&src.RRsets[i]); err != nil {
			return nil, located(src, &src.RRsets[i], err)
		}
		rest()
	}
	c.occlude()
	c.z.linkTargets(rest)
	c.delegate()
	if len(c.z.negative.data) == 0 {
		return nil, fmt.Errorf("%s: zone %s has no SOA", src.File, zone.Display(src.Name))
	}
	return c.z, nil
}

// located adds what and where to an error.
func located(src *zone.Zone, rrset *zone.RRset, err error) error {
	where := src.File
	if g := rrset.Group; g != nil {
		where = fmt.Sprintf("%s:%d", g.File, g.Line)
	}
	return fmt.Errorf("%s: %s: %w", where, zone.Key{Zone: src.Name, Name: rrset.Name, Type: rrset.Type}, err)
}

// newCompiler makes room for the zone's names at once.
func newCompiler(src *zone.Zone) (*compiler, error) {
	apex, err := appendName(nil, src.Name)
	if err != nil {
		return nil, err
	}
	lower(apex)
	owners, bytes, previous := 1, 0, ""
	for i := range src.RRsets {
		if r := &src.RRsets[i]; r.Name != previous {
			owners++
			bytes += max(0, len(r.Name)-len(src.Name)+1)
			previous = r.Name
		}
	}
	z := &Zone{
		name:   src.Name,
		apex:   apex,
		labels: dns.CountLabel(src.Name),
		seed:   maphash.MakeSeed(),
		nodes:  make([]node, 1, owners+owners/64),
		sets:   make([]set, 0, len(src.RRsets)),
		data:   make([]byte, 0, bytes+20*src.Records),
		slots:  make([]slot, 0, len(src.Groups)),
		groups: make(map[zone.Key]steered, len(src.Groups)),
	}
	z.grow(owners)
	c := &compiler{z: z, src: src, parents: make([]uint32, 1, cap(z.nodes))}
	c.pack.apex = apex
	return c, nil
}

// add compiles one RRset.
func (c *compiler) add(r *zone.RRset) error {
	z := c.z
	if len(r.RRs) == 0 {
		return errors.New("no records")
	}
	if err := c.enterOwner(r.Name); err != nil {
		return err
	}
	n := &z.nodes[c.node]
	if n.sets == 0 {
		n.set = uint32(len(z.sets))
	} else if int(n.set)+int(n.sets) != len(z.sets) {
		return errors.New("the RRsets of this name do not stand next to each other")
	}
	if z.rrset(n, r.Type) != nil {
		return errors.New("two RRsets of this name and type")
	}
	s, err := c.bodyOf(r, n)
	if err != nil {
		return err
	}
	n.sets++
	switch {
	case r.Type == dns.TypeCNAME:
		n.flags |= hasCNAME
	case n.flags&isWildcard != 0:
	case r.Type == dns.TypeDNAME:
		n.flags |= hasDNAME
	case r.Type == dns.TypeNS && c.node != 0:
		n.flags |= isCut
		c.cuts = append(c.cuts, delegation{c.node, uint32(len(z.sets)), r})
	}
	z.sets = append(z.sets, s)
	return nil
}

// bodyOf packs an RRset, or makes the slot of a group.
func (c *compiler) bodyOf(r *zone.RRset, n *node) (set, error) {
	z := c.z
	s, err := c.pack.rrset(c.owner, r.RRs, r.TTL, n.flags&isWildcard == 0)
	if err != nil {
		return s, err
	}
	if r.Type == dns.TypeSOA && c.node == 0 {
		if err := c.soa(r); err != nil {
			return s, err
		}
	}
	target, err := c.pack.target(r.RRs[0])
	if err != nil {
		return s, err
	}
	if r.Group != nil && (r.Type == dns.TypeNS || r.Type == dns.TypeSOA || r.Type == dns.TypeDNAME) {
		return s, errors.New("records of this type cannot be steered")
	}
	if r.Group != nil {
		z.slots = append(z.slots, slot{})
		s = set{typ: r.Type, slot: uint32(len(z.slots))}
		z.groups[r.Group.Key] = steered{r.Group, s.slot - 1, c.node}
		return s, nil
	}
	if uint64(len(z.data)+maxBody+wire.MaxName) > math.MaxUint32 {
		return s, errors.New("the zone is larger than 4 GiB")
	}
	s.off, s.target = uint32(len(z.data)), uint8(len(target))
	z.data = append(append(append(z.data, c.pack.data...), c.pack.ptrs...), target...)
	if s.target != 0 {
		z.data = append(z.data, make([]byte, linkSize)...)
	}
	return s, nil
}

// soa packs the SOA of negative answers.
func (c *compiler) soa(r *zone.RRset) error {
	soa, ok := r.RRs[0].(*dns.SOA)
	if !ok || len(r.RRs) != 1 {
		return errors.New("not one SOA")
	}
	p := packer{apex: c.pack.apex}
	b, err := p.body(c.owner, r.RRs, min(r.TTL, soa.Minttl), true)
	c.z.negative = b
	return err
}
