package answer

import (
	"github.com/miekg/dns"

	"gslbd/zone/steer"
)

// maxRotations bounds the ready-made orders of a selection whose records differ
// in size. With more records it starts at as many places, or at as many more as
// it takes for each record to be in one of the windows.
const maxRotations = 32

// choose compiles a selection. A selection that cannot be packed answers
// SERVFAIL; CompileZone has packed every member once, so only indexes can be wrong.
func (z *Zone) choose(g steered, sel steer.Selection) *selected {
	if len(sel.Members) == 0 {
		if sel.Rule == steer.RuleNoData {
			return &selected{status: noData}
		}
		return &selected{status: failed}
	}
	rrs := make([]dns.RR, 0, len(sel.Members))
	for _, i := range sel.Members {
		if i < 0 || i >= len(g.group.Members) {
			return &selected{status: failed}
		}
		rrs = append(rrs, g.group.Members[i].RR)
	}
	window := len(rrs)
	if sel.MaxAnswers > 0 {
		window = min(window, sel.MaxAnswers)
	}
	if g.group.Key.Type == dns.TypeCNAME {
		window = 1
	}
	bodies, err := z.bodies(g, rrs, window, sel.TTL)
	if err != nil {
		return &selected{status: failed}
	}
	return newSelected(bodies)
}

// bodies packs windows of the records: one body where Reply.put rotates, else
// one for each start.
func (z *Zone) bodies(g steered, rrs []dns.RR, window int, ttl uint32) ([]body, error) {
	owner := append(append([]byte(nil), z.owner(g.node)...), z.apex...)
	p := packer{apex: z.apex}
	compress := z.node(g.node).flags&isWildcard == 0
	if stride(rrs) != 0 {
		b, err := p.body(owner, rrs, ttl, compress)
		b.window = uint16(window)
		return []body{b}, err
	}
	starts := min(len(rrs), max(maxRotations, (len(rrs)+window-1)/window))
	bodies := make([]body, 0, starts)
	for i := range starts {
		first := i * len(rrs) / starts
		part := make([]dns.RR, 0, window)
		for j := range window {
			part = append(part, rrs[(first+j)%len(rrs)])
		}
		b, err := p.body(owner, part, ttl, compress)
		if err != nil {
			return nil, err
		}
		if g.group.Key.Type == dns.TypeCNAME {
			b.names.node = z.nodeOf(b.names.target)
		}
		bodies = append(bodies, b)
	}
	return bodies, nil
}
