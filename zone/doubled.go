package zone

import (
	"strings"

	"github.com/miekg/dns"
)

// doubled warns of names in an RRset in which the zone's name stands twice, as
// in www.example.com.example.com: a final dot was forgotten.
func (a *assembly) doubled(run []record, key Key) {
	if plain := a.undotted(key.Name); plain != "" {
		a.warnAt(&run[0], key, twice(key.Name), dot(plain))
		return
	}
	for i := range run {
		name := target(run[i].rr)
		if plain := a.undotted(name); plain != "" {
			a.warnAt(&run[i], key, twice(name), dot(plain))
		}
	}
}

// undotted gives the name that was meant where the zone's name stands twice at
// the end of one, else "". A zone of one label may well hold such names.
func (a *assembly) undotted(name string) string {
	zone := a.loader.zone
	plain, ok := strings.CutSuffix(name, zone)
	if !ok || strings.Count(zone, ".") < 2 || plain != zone && !strings.HasSuffix(plain, "."+zone) {
		return ""
	}
	return plain
}

// target gives the name in the data of the types that usually hold one of the
// same zone, canonical; "" for others, and for NS, whose names must have an
// address, so that addressless tells.
func target(rr dns.RR) string {
	name := ""
	switch rr := rr.(type) {
	case *dns.CNAME:
		name = rr.Target
	case *dns.MX:
		name = rr.Mx
	case *dns.SRV:
		name = rr.Target
	case *dns.SOA:
		name = rr.Ns
	default:
		return ""
	}
	return dns.CanonicalName(name)
}

func twice(name string) string { return "the zone's name stands twice in " + Display(name) }

func dot(plain string) string { return "end the name with a dot: " + plain }
