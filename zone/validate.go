package zone

import (
	"strings"

	"github.com/miekg/dns"
)

// validate checks what concerns more than one RRset.
func (a *assembly) validate() {
	a.apex()
	for i := range a.owners {
		a.rest()
		if sets := a.sets(int32(i)); len(sets) > 0 {
			a.exclusive(int32(i), sets)
		}
	}
	v := a.newOcclusion()
	for i := range a.owners {
		a.rest()
		a.served(int32(i), v)
	}
	a.delegations(v)
}

// sets gives the RRsets of an owner.
func (a *assembly) sets(owner int32) []RRset { return a.zone.RRsets[a.first[owner]:a.first[owner+1]] }

// set gives the RRset of a name and type, and its index; -1 without one.
func (a *assembly) set(name string, t uint16) int {
	owner, ok := a.index[name]
	if !ok {
		return -1
	}
	for i := a.first[owner]; i < a.first[owner+1]; i++ {
		if a.zone.RRsets[i].Type == t {
			return int(i)
		}
	}
	return -1
}

// at reports a problem of an RRset.
func (a *assembly) at(i int, s Severity, message, hint string) {
	a.problem(a.places[i], s, message, hint)
}

func (a *assembly) problem(p place, s Severity, message, hint string) {
	a.report.add(Problem{a.files[p.file], int(p.line), s, message, hint})
}

// apex checks SOA and NS (RFC 1035 §5.2).
func (a *assembly) apex() {
	zone := a.loader.zone
	if i := a.set(zone, dns.TypeSOA); i >= 0 {
		a.zone.Serial = a.zone.RRsets[i].RRs[0].(*dns.SOA).Serial
	} else if !a.syntax {
		a.missing("zone "+Display(zone)+" has no SOA record", "add one, as in: @ SOA ns1 hostmaster 1 3600 600 604800 60")
	}
	ns := a.set(zone, dns.TypeNS)
	if ns < 0 {
		if !a.syntax {
			a.missing("zone "+Display(zone)+" has no NS record at its apex", "add one, as in: @ NS ns1")
		}
		return
	}
	for _, rr := range a.zone.RRsets[ns].RRs {
		target := nsTarget(rr)
		if within(target, zone) && !a.syntax {
			if f := a.addressless(target); f != nil {
				a.problem(a.ns[rr], Error, Display(zone)+"/NS: name server "+Display(target)+" "+f.message, f.hint)
			}
		}
	}
}

func (a *assembly) missing(message, hint string) {
	a.report.add(Problem{File: a.files[0], Severity: Error, Message: message, Hint: hint})
}

func nsTarget(rr dns.RR) string { return dns.CanonicalName(rr.(*dns.NS).Ns) }

// addressless says what keeps a name server inside the zone from having an
// address (RFC 2181 §10.3); nil if nothing does. A wildcard may give one.
func (a *assembly) addressless(name string) *fault {
	holder := a.holder(name)
	switch {
	case a.set(holder, dns.TypeA) >= 0 || a.set(holder, dns.TypeAAAA) >= 0:
		return nil
	case a.set(holder, dns.TypeCNAME) >= 0:
		return &fault{"is an alias (CNAME)", "name servers need A or AAAA records of their own"}
	}
	if plain := a.undotted(name); plain != "" {
		return &fault{"has no address in the zone", dot(plain)}
	}
	return &fault{"has no address in the zone", "add an A or AAAA record for it"}
}

// holder gives the owner whose records answer for a name: itself, or the
// wildcard at its closest encloser (RFC 4592 §3.3.1).
func (a *assembly) holder(name string) string {
	up := name
	for !a.exists(up) && up != "." {
		up = parent(up)
	}
	wild := "*." + up
	if up == "." {
		wild = "*."
	}
	if _, ok := a.index[wild]; ok && up != name {
		return wild
	}
	return name
}

// exists reports whether a name has records or a name below it that does.
func (a *assembly) exists(name string) bool {
	if _, ok := a.index[name]; ok || name == a.loader.zone {
		return true
	}
	if a.empty == nil {
		a.empty = map[string]bool{}
		for i := range a.owners {
			for up := a.owners[i].name; up != a.loader.zone && !a.empty[up]; {
				up = parent(up)
				a.empty[up] = true
			}
		}
	}
	return a.empty[name]
}

// exclusive checks the types of one owner against each other.
func (a *assembly) exclusive(owner int32, sets []RRset) {
	name := sets[0].Name
	wild := strings.HasPrefix(name, "*.")
	from := int(a.first[owner])
	for i := range sets {
		switch sets[i].Type {
		case dns.TypeSOA:
			if name != a.loader.zone {
				a.at(from+i, Error, "SOA of "+Display(name)+" is not at the apex, "+Display(a.loader.zone), "a zone has one SOA, at its apex; the zone's name stands in the configuration")
			}
		case dns.TypeCNAME:
			if j := beside(sets); j >= 0 {
				hint := "a name with a CNAME has no other data (RFC 2181 §10.1)"
				if name == a.loader.zone {
					hint = "the apex always has SOA and NS; use A, AAAA or HTTPS records there"
				}
				a.at(from+i, Error, Display(name)+": CNAME beside "+dns.Type(sets[j].Type).String(), hint)
			}
		case dns.TypeDNAME:
			if name != a.loader.zone && a.set(name, dns.TypeNS) >= 0 {
				a.at(from+i, Error, Display(name)+": DNAME beside NS", "a delegation has no DNAME (RFC 6672 §2.4); remove one of them")
			}
			if wild {
				a.at(from+i, Error, Display(name)+": DNAME at a wildcard", "write a DNAME for each name (RFC 4592 §4.4)")
			}
		case dns.TypeNS:
			if wild {
				a.at(from+i, Error, Display(name)+": NS at a wildcard", "write NS records for each name that is delegated (RFC 4592 §4.2)")
			}
		}
	}
}

// beside finds a type that must not stand beside a CNAME.
func beside(sets []RRset) int {
	for i := range sets {
		switch sets[i].Type {
		case dns.TypeCNAME, dns.TypeRRSIG, dns.TypeNSEC, dns.TypeKEY, dns.TypeNXT:
		default:
			return i
		}
	}
	return -1
}

// served warns of RRsets that are never answered, and of those that look as if
// somebody forgot to steer them.
func (a *assembly) served(owner int32, v *occlusion) {
	sets := a.sets(owner)
	if len(sets) == 0 {
		return
	}
	hidden := v.over(sets[0].Name)
	for i := range sets {
		s := &sets[i]
		at := int(a.first[owner]) + i
		if why := v.hides(hidden, s); why != "" {
			a.at(at, Warning, Key{Name: s.Name, Type: s.Type}.String()+" is never answered: "+why, "remove it, or move it into the zone that it belongs to")
			continue
		}
		if s.Group != nil || len(s.RRs) < 2 || a.places[at].marked {
			continue
		}
		a.zone.plain = append(a.zone.plain, plainSet{set: int32(at), line: a.places[at].line, file: a.places[at].file})
		if hidden.name == "" && (s.Type == dns.TypeA || s.Type == dns.TypeAAAA) {
			a.at(at, Warning, Key{Name: s.Name, Type: s.Type}.String()+" has several records and no annotation: all are answered, dead or alive", "annotate them with ; @POOL ..., or write ; @static on each if that is meant")
		}
	}
}
