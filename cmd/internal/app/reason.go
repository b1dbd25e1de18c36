package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslbd/cmd/internal/admin"
	"gslbd/zone"
)

// explain asks the scene's table and says which rule made the reply.
func (sc scene) explain(q question) (admin.Explanation, error) {
	reply, err := ask(sc.state, q)
	if err != nil {
		return admin.Explanation{}, err
	}
	chain := aliases(reply, q.name)
	last := chain[len(chain)-1]
	e := admin.Explanation{
		Name:   zone.Display(q.name),
		Type:   dns.Type(q.qtype).String(),
		RCode:  dns.RcodeToString[reply.Rcode],
		Answer: dataFor(reply, last, q.qtype),
		TTL:    lifetime(reply),
		Client: q.client.String(),
	}
	var reasons []string
	for i, name := range chain {
		qtype := q.qtype
		if i < len(chain)-1 {
			qtype = dns.TypeCNAME
			reasons = append(reasons, fmt.Sprintf("%s is an alias of %s", zone.Display(name), zone.Display(chain[i+1])))
		}
		if d, ok := sc.led(reply, name, qtype); ok {
			e.Policy, e.Pool = d.policy, d.pool
			reasons = append(reasons, d.reason)
		} else if name == last {
			reasons = append(reasons, sc.unsteered(reply, last, q.qtype))
		}
	}
	e.Reason = strings.Join(reasons, "; ")
	return e, nil
}

// aliases lists the question's name and the names that CNAMEs of the reply
// lead to from there.
func aliases(reply *dns.Msg, name string) []string {
	chain := []string{name}
	for _, rr := range reply.Answer {
		if c, ok := rr.(*dns.CNAME); ok && strings.EqualFold(c.Hdr.Name, chain[len(chain)-1]) && reply.Question[0].Qtype != dns.TypeCNAME {
			chain = append(chain, c.Target)
		}
	}
	return chain
}

// dataFor gives the data of the records of one owner and type in the answer;
// of all its records when the type is ANY.
func dataFor(reply *dns.Msg, name string, qtype uint16) []string {
	data := []string{}
	for _, rr := range reply.Answer {
		h := rr.Header()
		if strings.EqualFold(h.Name, name) && (h.Rrtype == qtype || qtype == dns.TypeANY) {
			data = append(data, strings.TrimPrefix(rr.String(), h.String()))
		}
	}
	return data
}

// lifetime is how long a resolver may keep the reply: the least TTL of the
// answer, or the negative TTL of RFC 2308 §5.
func lifetime(reply *dns.Msg) uint32 {
	if len(reply.Answer) > 0 {
		return slices.MinFunc(reply.Answer, func(a, b dns.RR) int {
			return cmp.Compare(a.Header().Ttl, b.Header().Ttl)
		}).Header().Ttl
	}
	for _, rr := range reply.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			return min(soa.Hdr.Ttl, soa.Minttl)
		}
	}
	return 0
}

// nearest points from a name outside every zone at what there is.
func (sc scene) nearest(shown string) string {
	known := make([]string, 0, len(sc.zones)+len(sc.decisions))
	for _, z := range sc.zones {
		known = append(known, zone.Display(z))
	}
	zones := slices.Clone(known[:min(len(known), 3)])
	if more := len(sc.zones) - len(zones); more > 0 {
		zones = append(zones, fmt.Sprintf("%d more", more))
	}
	for key := range sc.decisions {
		known = append(known, zone.Display(key.Name))
	}
	slices.Sort(known)
	if near := zone.Nearest(strings.ToLower(shown), slices.Compact(known)); near != "" {
		return "the nearest name is " + near
	}
	return "zones are " + strings.Join(zones, ", ")
}

// led finds the group that a name led to: its own, or that of a wildcard
// above it (RFC 4592) which the reply agrees with.
func (sc scene) led(reply *dns.Msg, name string, qtype uint16) (decision, bool) {
	name = dns.CanonicalName(name)
	origin, ok := sc.zoneOf(name)
	if !ok {
		return decision{}, false
	}
	if d, ok := sc.decisions[zone.Key{Zone: origin, Name: name, Type: qtype}]; ok {
		return d, true
	}
	given := dataFor(reply, name, qtype)
	for at, end := 0, false; ; {
		if at, end = dns.NextLabel(name, at); end || !dns.IsSubDomain(origin, name[at:]) {
			return decision{}, false
		}
		d, ok := sc.decisions[zone.Key{Zone: origin, Name: "*." + name[at:], Type: qtype}]
		if ok && d.gave(given) {
			return d, true
		}
	}
}

// gave reports whether the decision may have put exactly this in an answer.
func (d decision) gave(data []string) bool {
	if len(data) == 0 || len(d.answer) == 0 {
		return len(data) == len(d.answer)
	}
	return !slices.ContainsFunc(data, func(s string) bool { return !slices.Contains(d.answer, s) })
}

// zoneOf finds the closest zone that holds the name.
func (sc scene) zoneOf(name string) (string, bool) {
	best := ""
	for _, z := range sc.zones {
		if dns.IsSubDomain(z, name) && len(z) > len(best) {
			best = z
		}
	}
	return best, best != ""
}

// unsteered says why a name was answered as it was when no group was asked.
func (sc scene) unsteered(reply *dns.Msg, name string, qtype uint16) string {
	shown, typ := zone.Display(name), dns.Type(qtype).String()
	origin, inside := sc.zoneOf(dns.CanonicalName(name))
	switch {
	case !inside && reply.Rcode == dns.RcodeRefused:
		return shown + " is outside every zone served here; " + sc.nearest(shown)
	case !inside: // an alias may well lead there
		return shown + " is outside every zone served here"
	case reply.Rcode == dns.RcodeNameError:
		return fmt.Sprintf("%s does not exist in zone %s", shown, zone.Display(origin))
	case qtype == dns.TypeANY && reply.Rcode == dns.RcodeRefused:
		return "queries of type ANY are refused (dns.any: refuse)"
	case reply.Rcode != dns.RcodeSuccess:
		return "the reply is " + dns.RcodeToString[reply.Rcode]
	case len(dataFor(reply, name, qtype)) > 0:
		return fmt.Sprintf("%s/%s is not steered: it is answered as the zone has it", shown, typ)
	case len(reply.Ns) > 0 && reply.Ns[0].Header().Rrtype == dns.TypeNS:
		return fmt.Sprintf("%s is delegated to other name servers", zone.Display(reply.Ns[0].Header().Name))
	}
	return fmt.Sprintf("%s has no %s record", shown, typ)
}
