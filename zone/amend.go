package zone

import (
	"slices"

	"github.com/miekg/dns"
)

// amend mends and checks what the library leaves to its user. The data of
// types that it does not touch are right once they can be packed.
func amend(rr dns.RR, kind string) *fault {
	switch rr := rr.(type) {
	case *dns.NSEC:
		rr.TypeBitMap = bitmap(rr.TypeBitMap)
	case *dns.NSEC3:
		rr.TypeBitMap = bitmap(rr.TypeBitMap)
	case *dns.SVCB:
		return parameters(rr, kind)
	case *dns.HTTPS:
		return parameters(&rr.SVCB, kind)
	}
	return nil
}

// bitmap puts the types of a bit map, which a file may list in any order (RFC
// 4034 §4.2), into that of the wire.
func bitmap(types []uint16) []uint16 {
	slices.Sort(types)
	return slices.Compact(types)
}

// parameters checks the keys of SVCB and HTTPS data against each other:
// clients drop a record with such a mistake (RFC 9460 §7.1.1, §8).
func parameters(rr *dns.SVCB, kind string) *fault {
	has := map[dns.SVCBKey]bool{}
	for _, p := range rr.Value {
		has[p.Key()] = true
	}
	if has[dns.SVCB_NO_DEFAULT_ALPN] && !has[dns.SVCB_ALPN] {
		return &fault{kind + " data have no-default-alpn without alpn", "add alpn=, or remove no-default-alpn"}
	}
	for _, p := range rr.Value {
		m, ok := p.(*dns.SVCBMandatory)
		if !ok {
			continue
		}
		seen := map[dns.SVCBKey]bool{}
		for _, key := range m.Code {
			says := kind + " data name " + quote(key.String())
			switch {
			case key == dns.SVCB_MANDATORY:
				return &fault{says + " itself as mandatory", "leave it out: it always is"}
			case seen[key]:
				return &fault{says + " twice as mandatory", "keep one of them"}
			case !has[key]:
				return &fault{says + " as mandatory and do not have it", "add the key, or take it out of mandatory="}
			}
			seen[key] = true
		}
	}
	return nil
}
