package answer_test

import (
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslbd/zone"
	"gslbd/zone/steer"
)

// reference answers from the model of the zones, the plain way: RFC 1034
// §4.3.2 with wildcards, DNAME and negative answers, on maps of names. It
// defines what Lookup must say.
type reference struct {
	zones  map[string]*refZone
	chosen map[zone.Key]steer.Selection
	server *server
}

type refZone struct {
	name  string
	sets  map[string]map[uint16]*zone.RRset // by owner and type
	exist map[string]bool                   // owners and empty non-terminals
}

// expected is a reply: each part in order, records of a part in any.
type expected struct {
	rcode, ede     int
	aa             bool
	answer         []part
	authority      []part
	must, optional []part // additional
}

// part is an RRset, of which n records are wanted.
type part struct {
	rrs []dns.RR
	n   int
}

// norm gives a name the one form that the library writes, lower case.
func norm(name string) string {
	b := make([]byte, 256)
	n, err := dns.PackDomainName(name, b, 0, nil, false)
	if err != nil {
		panic(err)
	}
	s, _, err := dns.UnpackDomainName(b[:n], 0)
	if err != nil {
		panic(err)
	}
	return strings.ToLower(s)
}

func newReference(s *server) *reference {
	f := &reference{zones: map[string]*refZone{}, chosen: s.chosen, server: s}
	for _, z := range s.zones {
		rz := &refZone{name: norm(z.Name), sets: map[string]map[uint16]*zone.RRset{}, exist: map[string]bool{}}
		f.zones[rz.name] = rz
		for i := range z.RRsets {
			r := &z.RRsets[i]
			name := norm(r.Name)
			if rz.sets[name] == nil {
				rz.sets[name] = map[uint16]*zone.RRset{}
			}
			rz.sets[name][r.Type] = r
			for n := name; ; n = parent(n) {
				rz.exist[n] = true
				if n == rz.name {
					break
				}
			}
		}
	}
	return f
}

func parent(name string) string {
	if i, end := dns.NextLabel(name, 0); !end {
		return name[i:]
	}
	return "."
}

// from gives name and its ancestors down from zone to name.
func from(name, zone string) []string {
	var list []string
	for n := name; ; n = parent(n) {
		list = append(list, n)
		if n == zone {
			break
		}
	}
	slices.Reverse(list)
	return list
}

// find gives the zone for a name: the longest suffix; for DS the one above.
func (f *reference) find(name string, qtype uint16) *refZone {
	var apex *refZone
	for n := name; ; n = parent(n) {
		if z := f.zones[n]; z != nil {
			if qtype != dns.TypeDS || n != name {
				return z
			}
			apex = z
		}
		if n == "." {
			return apex
		}
	}
}

// records gives what an RRset answers for an owner; a group what was published.
func (f *reference) records(r *zone.RRset, owner string) (p part, rule steer.Rule) {
	rrs, ttl, n := r.RRs, r.TTL, len(r.RRs)
	if r.Group != nil {
		sel := f.chosen[r.Group.Key]
		if len(sel.Members) == 0 {
			return part{}, sel.Rule
		}
		rrs, ttl = nil, sel.TTL
		for _, i := range sel.Members {
			rrs = append(rrs, r.Group.Members[i].RR)
		}
		n = len(rrs)
		if sel.MaxAnswers > 0 {
			n = min(n, sel.MaxAnswers)
		}
		if r.Type == dns.TypeCNAME || r.Type == dns.TypeDNAME {
			n = 1
		}
	}
	for _, rr := range rrs {
		p.rrs = append(p.rrs, own(rr, owner, ttl))
	}
	p.n = n
	return p, ""
}

func own(rr dns.RR, owner string, ttl uint32) dns.RR {
	rr = dns.Copy(rr)
	rr.Header().Name, rr.Header().Ttl, rr.Header().Class = owner, ttl, dns.ClassINET
	return rr
}

// answer gives the reply to a question of class IN; actual helps where a group
// of several CNAMEs leads to one of several chains.
func (f *reference) answer(q dns.Question, actual *dns.Msg) *expected {
	e := &expected{}
	name, asked := norm(q.Name), map[string]bool{}
	for hop := 0; hop <= 16 && !asked[name]; hop++ {
		asked[name] = true
		z := f.find(name, q.Qtype)
		if z == nil {
			if hop == 0 {
				e.rcode, e.ede = dns.RcodeRefused, 20
			}
			break
		}
		e.aa = true
		if name = f.step(e, z, name, q.Qtype, hop, actual); name == "" {
			break
		}
	}
	return e
}

// step answers for one name in z and gives the next, "" for none.
func (f *reference) step(e *expected, z *refZone, name string, qtype uint16, hop int, actual *dns.Msg) string {
	for _, n := range from(name, z.name) {
		sets := z.sets[n]
		if strings.HasPrefix(n, "*.") {
			continue
		}
		if ns := sets[dns.TypeNS]; ns != nil && n != z.name && (n != name || qtype != dns.TypeDS) {
			f.refer(e, z, n, ns, hop)
			return ""
		}
		if d := sets[dns.TypeDNAME]; d != nil && n != name {
			return f.redirect(e, z, name, n, d, qtype)
		}
	}
	source := name
	if !z.exist[name] {
		encloser := parent(name)
		for !z.exist[encloser] {
			encloser = parent(encloser)
		}
		source = "*." + strings.TrimPrefix(encloser, ".")
		if !z.exist[source] {
			e.rcode = dns.RcodeNameError
			f.negative(e, z)
			return ""
		}
	}
	sets := z.sets[source]
	set, cname := sets[qtype], sets[dns.TypeCNAME]
	switch {
	case set != nil:
		f.add(e, z, set, name)
	case cname != nil:
		if !f.add(e, z, cname, name) || qtype == dns.TypeANY {
			return ""
		}
		return norm(chosenOf(e, actual).(*dns.CNAME).Target)
	case qtype == dns.TypeANY && len(sets) > 0:
		h := &dns.HINFO{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeHINFO, Class: dns.ClassINET, Ttl: 3600}, Cpu: "RFC8482"}
		e.answer = append(e.answer, part{[]dns.RR{h}, 1})
	default:
		f.negative(e, z)
	}
	return ""
}

// add puts an RRset in the answer, or what a group says without records.
func (f *reference) add(e *expected, z *refZone, r *zone.RRset, owner string) bool {
	p, rule := f.records(r, owner)
	switch rule {
	case "":
		e.answer = append(e.answer, p)
		return true
	case steer.RuleNoData:
		f.negative(e, z)
	default:
		*e = expected{rcode: dns.RcodeServerFailure}
	}
	return false
}

// chosenOf gives the record that actual has where the last part of the answer
// stands, if it is one of the part's; else the part's first.
func chosenOf(e *expected, actual *dns.Msg) dns.RR {
	at := 0
	for _, p := range e.answer[:len(e.answer)-1] {
		at += p.n
	}
	p := e.answer[len(e.answer)-1]
	if actual != nil && at < len(actual.Answer) {
		for _, rr := range p.rrs {
			if dns.IsDuplicate(rr, actual.Answer[at]) {
				return rr
			}
		}
	}
	return p.rrs[0]
}

func (f *reference) negative(e *expected, z *refZone) {
	r := z.sets[z.name][dns.TypeSOA]
	soa := r.RRs[0].(*dns.SOA)
	e.authority = append(e.authority, part{[]dns.RR{own(soa, z.name, min(r.TTL, soa.Minttl))}, 1})
}

// refer adds the name servers of a cut and the addresses that z has for them.
func (f *reference) refer(e *expected, z *refZone, cut string, ns *zone.RRset, hop int) {
	p, rule := f.records(ns, cut)
	if rule != "" {
		f.add(e, z, ns, cut)
		return
	}
	e.aa = hop > 0
	e.authority = append(e.authority, p)
	for _, rr := range p.rrs {
		host := norm(rr.(*dns.NS).Ns)
		for _, typ := range []uint16{dns.TypeA, dns.TypeAAAA} {
			set := z.sets[host][typ]
			if set == nil {
				continue
			}
			if p, rule := f.records(set, host); rule != "" {
				continue
			} else if dns.IsSubDomain(cut, host) {
				e.must = append(e.must, p)
			} else {
				e.optional = append(e.optional, p)
			}
		}
	}
}

// redirect adds a DNAME and the CNAME made from it, and gives the next name.
func (f *reference) redirect(e *expected, z *refZone, name, owner string, d *zone.RRset, qtype uint16) string {
	if !f.add(e, z, d, owner) {
		return ""
	}
	dname := e.answer[len(e.answer)-1].rrs[0].(*dns.DNAME)
	for _, p := range e.answer[:len(e.answer)-1] {
		if dns.IsDuplicate(p.rrs[0], dname) {
			e.answer = e.answer[:len(e.answer)-1] // given before
			break
		}
	}
	target := strings.TrimSuffix(name, owner) + dname.Target
	if n, err := dns.PackDomainName(target, make([]byte, 512), 0, nil, false); err != nil || n > 255 {
		e.rcode = dns.RcodeYXDomain
		return ""
	}
	hdr := dns.RR_Header{Name: name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: dname.Hdr.Ttl}
	e.answer = append(e.answer, part{[]dns.RR{&dns.CNAME{Hdr: hdr, Target: target}}, 1})
	if qtype == dns.TypeCNAME || qtype == dns.TypeANY {
		return ""
	}
	return norm(target)
}
