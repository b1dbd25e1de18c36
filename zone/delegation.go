package zone

import "github.com/miekg/dns"

// occlusion knows the names below which a zone has no authority: delegations
// (RFC 1034 §4.2.1) and DNAMEs (RFC 6672 §2.4).
type occlusion struct {
	zone string
	cuts map[string]uint16 // canonical owner to NS or DNAME
	glue map[string]bool   // canonical names of name servers of delegations
}

// cover is the topmost delegation or DNAME at or above a name; name is "" for
// a name that the zone answers for.
type cover struct {
	name string
	typ  uint16
	at   bool // the name itself, not one above it
}

func (a *assembly) newOcclusion() *occlusion {
	v := &occlusion{zone: a.loader.zone, cuts: map[string]uint16{}, glue: map[string]bool{}}
	for i := range a.zone.RRsets {
		s := &a.zone.RRsets[i]
		switch {
		case s.Type == dns.TypeDNAME && v.cuts[s.Name] == 0:
			v.cuts[s.Name] = dns.TypeDNAME
		case s.Type == dns.TypeNS && s.Name != v.zone:
			v.cuts[s.Name] = dns.TypeNS
			for _, rr := range s.RRs {
				v.glue[nsTarget(rr)] = true
			}
		}
	}
	return v
}

// over finds what covers a name of the zone.
func (v *occlusion) over(name string) cover {
	var c cover
	if len(v.cuts) == 0 {
		return c
	}
	for up := name; ; up = parent(up) {
		if t, ok := v.cuts[up]; ok && (t == dns.TypeNS || up != name) {
			c = cover{up, t, up == name}
		}
		if up == v.zone || up == "" || up == "." {
			return c
		}
	}
}

// hides says why an RRset whose owner is covered is never answered; "" for
// what belongs to a delegation, and for glue.
func (v *occlusion) hides(c cover, s *RRset) string {
	switch {
	case c.name == "":
		return ""
	case c.typ == dns.TypeDNAME:
		return "it is below the DNAME of " + Display(c.name)
	case (s.Type == dns.TypeA || s.Type == dns.TypeAAAA) && v.glue[s.Name]:
		return ""
	case !c.at:
		return "it is below the delegation of " + Display(c.name)
	}
	switch s.Type {
	case dns.TypeNS, dns.TypeDS, dns.TypeNSEC, dns.TypeRRSIG:
		return ""
	}
	return "its name is delegated"
}

// delegations warns of name servers inside the zone that no address is known
// of. One below another delegation may have its address there.
func (a *assembly) delegations(v *occlusion) {
	for i := range a.zone.RRsets {
		s := &a.zone.RRsets[i]
		if s.Type != dns.TypeNS || s.Name == v.zone || v.over(s.Name).name != s.Name {
			continue
		}
		for _, rr := range s.RRs {
			target := nsTarget(rr)
			if !within(target, v.zone) {
				continue
			}
			if c := v.over(target); c.name != "" && c.name != s.Name {
				continue
			}
			if f := a.addressless(target); f != nil && !a.syntax {
				a.problem(a.ns[rr], Warning, "delegation of "+Display(s.Name)+": name server "+Display(target)+" "+f.message, f.hint)
			}
		}
	}
}
