package answer

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"

	"github.com/miekg/dns"

	"gslbd/zone"
)

// compiler builds a Zone.
type compiler struct {
	z    *Zone
	src  *zone.Zone
	pack packer
	made []made // nodes but that of apex: parents precede children
	cuts []delegation

	name   string // of the RRset at hand
	owner  []byte // lower-case wire form of name; nil before the first
	node   uint32 // of name
	sets   []set  // of name so far; settle gives them their place
	bodies []byte // of sets, whose offsets begin here
}

// maxOne is more than one RRset adds to a zone, with its node and those above it.
const maxOne = 1 << 20

// delegation is an NS RRset that may be a cut.
type delegation struct {
	node  uint32
	rrset *zone.RRset
}

// CompileZone packs a zone. Its groups answer SERVFAIL until they are
// published. An error names the RRset, and file and line where they are known.
func CompileZone(src *zone.Zone) (*Zone, error) { return CompileGently(src, func() {}) }

// CompileGently is CompileZone that calls rest after each RRset and once more for each
// name, which takes a microsecond: what runs beside it can have its turn there.
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
	c.settle()
	for _, m := range c.made {
		c.occlude(m)
		c.link(m)
		rest()
	}
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
	owners, bytes, previous := 1, int(nodeSize+align), ""
	for i := range src.RRsets {
		r := &src.RRsets[i]
		if r.Name != previous {
			owners++
			bytes += int(nodeSize+align) + max(0, len(r.Name)-len(src.Name)+1)
			previous = r.Name
		}
		bytes += int(setSize) + room(r)
	}
	z := &Zone{
		name:   src.Name,
		apex:   apex,
		labels: dns.CountLabel(src.Name),
		seed:   maphash.MakeSeed(),
		index:  make([]place, indexSize(owners)),
		data:   make([]byte, 0, bytes),
		slots:  make([]slot, 0, len(src.Groups)),
		groups: make(map[zone.Key]steered, len(src.Groups)),
	}
	c := &compiler{z: z, src: src, made: make([]made, 0, owners+owners/64)}
	c.pack.apex = apex
	c.append(nil)
	return c, nil
}

// room guesses how many bytes the records take: for addresses, of which there are most, exactly.
func room(r *zone.RRset) int {
	if each := int(stride(r.RRs)); each != 0 {
		return each * len(r.RRs)
	}
	return 20 * len(r.RRs)
}

// add compiles one RRset.
func (c *compiler) add(r *zone.RRset) error {
	z := c.z
	if len(r.RRs) == 0 {
		return errors.New("no records")
	}
	if uint64(len(z.data)+len(c.sets)*int(setSize)+len(c.bodies)+maxOne) > math.MaxUint32 {
		return errors.New("the zone is larger than 4 GiB")
	}
	if r.Name != c.name || c.owner == nil {
		c.settle()
		if err := c.enterOwner(r.Name); err != nil {
			return err
		}
		c.name = r.Name
	}
	n := z.node(c.node)
	if n.sets != 0 {
		return errors.New("the RRsets of this name do not stand next to each other")
	}
	if ofType(c.sets, r.Type) >= 0 {
		return errors.New("two RRsets of this name and type")
	}
	s, err := c.bodyOf(r, n)
	if err != nil {
		return err
	}
	c.sets = append(c.sets, s)
	switch {
	case r.Type == dns.TypeCNAME:
		n.flags |= hasCNAME
	case n.flags&isWildcard != 0:
	case r.Type == dns.TypeDNAME:
		n.flags |= hasDNAME
	case r.Type == dns.TypeNS && c.node != 0:
		n.flags |= isCut
		c.cuts = append(c.cuts, delegation{c.node, r})
	}
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
		s = set{typ: r.Type, steered: true, at: uint32(len(z.slots))}
		z.slots = append(z.slots, slot{})
		z.groups[r.Group.Key] = steered{r.Group, s.at, c.node}
		return s, nil
	}
	if target != nil {
		c.bodies = append(c.bodies, make([]byte, linkSize)...)
	}
	s.at, s.target = uint32(len(c.bodies)), uint8(len(target))
	c.bodies = append(append(append(c.bodies, c.pack.data...), c.pack.ptrs...), target...)
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
