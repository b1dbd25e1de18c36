package zone

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// defaultPolicy is what a group has without policy=.
const defaultPolicy = "failover"

// steering tells whether an RRset is annotated, and whether it is that or says
// @static. It reports one in which records disagree.
func (a *assembly) steering(run []record, key Key) (steered, marked bool) {
	var pool, fixed, none *record
	for i := range run {
		r := &run[i]
		switch {
		case r.note == 0:
			none = first(none, r)
		case a.notes[r.note-1].static:
			fixed = first(fixed, r)
		default:
			pool = first(pool, r)
		}
	}
	switch {
	case pool != nil && none != nil:
		a.errorAt(none, key, "record has no annotation, but others of its RRset have ("+a.where(pool)+")", "annotate every record of the RRset, or none")
	case pool != nil && fixed != nil:
		a.errorAt(fixed, key, "@static in an RRset that is steered ("+a.where(pool)+")", "give this record a pool, or write @static on every record")
	case fixed != nil && none != nil:
		a.errorAt(none, key, "record has no annotation, but others of its RRset say @static ("+a.where(fixed)+")", "write ; @static on every record of the RRset")
	}
	return pool != nil, pool != nil || fixed != nil
}

func first(old, r *record) *record {
	if old != nil {
		return old
	}
	return r
}

// group makes the group of an annotated RRset; nil when that cannot be done,
// which was then reported.
func (a *assembly) group(run []record, key Key) *Group {
	if hint := unsteerable(key.Type); hint != "" {
		a.errorAt(&run[0], key, "records of type "+dns.Type(key.Type).String()+" cannot be steered", hint)
		return nil
	}
	policy, ok := a.policyOf(run, key)
	g := &Group{Key: key, Policy: policy, TTL: run[0].rr.Header().Ttl, File: a.files[run[0].file], Line: int(run[0].line)}
	g.Members = make([]Member, 0, len(run))
	for i := range run {
		r := &run[i]
		if t := r.rr.Header().Ttl; t != g.TTL {
			a.errorAt(r, key, fmt.Sprintf("TTL %d differs from TTL %d at %s", t, g.TTL, a.where(&run[0])), "give all records of a group one TTL")
		}
		if r.note == 0 || a.notes[r.note-1].static {
			ok = false
			continue
		}
		n := &a.notes[r.note-1]
		if n.bad || !ok {
			ok = false
			continue
		}
		g.Members = append(g.Members, a.member(r, key, n, policy))
	}
	if !ok || !a.distinct(g) {
		return nil
	}
	return g
}

// unsteerable says why records of a type cannot be steered; "" if they can.
func unsteerable(t uint16) string {
	switch t {
	case dns.TypeSOA, dns.TypeDNSKEY, dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeCDS, dns.TypeCDNSKEY, dns.TypeZONEMD:
		return "they describe the zone itself; remove the annotation"
	case dns.TypeNS, dns.TypeDS:
		return "a delegation must not change with health; steer the addresses of the name servers instead"
	case dns.TypeDNAME:
		return "a DNAME moves a whole subtree; steer the names below its target instead"
	}
	return ""
}

// policyOf finds the policy of an RRset. It is false when the pools cannot be
// held against it.
func (a *assembly) policyOf(run []record, key Key) (string, bool) {
	var chosen *record
	policy := defaultPolicy
	for i := range run {
		r := &run[i]
		if r.note == 0 {
			continue
		}
		p := a.notes[r.note-1].policy
		switch {
		case p == "" || chosen != nil && p == policy:
		case chosen != nil:
			a.errorAt(r, key, "policy "+quote(p)+" differs from policy "+quote(policy)+" at "+a.where(chosen), "an RRset has one policy; policy= on one record is enough")
			return policy, false
		default:
			policy, chosen = p, r
		}
	}
	_, known := a.voc.Policies[policy]
	return policy, known && (chosen != nil || !a.owners[run[0].owner].lossy)
}

// member makes the member of one record.
func (a *assembly) member(r *record, key Key, n *note, policy string) Member {
	p := a.voc.Policies[policy]
	m := Member{
		ID: n.id, Data: dataOf(r.rr), Pool: n.pool, Weight: n.weight, Checks: n.checks,
		Target: n.target, RR: r.rr, File: a.files[r.file], Line: int(r.line),
	}
	if m.ID == "" {
		m.ID = m.Data
	}
	last := p.Fallback != "" && n.pool == p.Fallback
	switch {
	case !slices.Contains(p.Pools, n.pool) && !last:
		a.errorAt(r, key, "policy "+quote(policy)+" does not use pool "+quote(n.pool), "its pools are "+strings.Join(p.all(), ", ")+"; or choose another policy by policy=")
	case n.checked || last:
	case len(p.Checks) == 0:
		a.errorAt(r, key, "member has no check, and policy "+quote(policy)+" has no default one", "add check=NAME, or check=none for a member that is always up")
	default:
		m.Checks = p.Checks
	}
	if !m.Target.Addr.IsValid() {
		m.Target.Addr = address(r.rr)
	}
	if len(m.Checks) == 0 {
		return m
	}
	if !m.Target.Addr.IsValid() {
		a.errorAt(r, key, "member has no address to probe", "records of type "+dns.Type(key.Type).String()+" have none themselves; add target=IP or target=IP:PORT, or check=none")
	} else if f := m.Target.usable(m.Target.Addr.String()); f != nil {
		a.errorAt(r, key, f.message, f.hint)
	}
	return m
}

// address gives the address that a record holds, if any.
func address(rr dns.RR) netip.Addr {
	var addr netip.Addr
	switch rr := rr.(type) {
	case *dns.A:
		addr, _ = netip.AddrFromSlice(rr.A)
	case *dns.AAAA:
		addr, _ = netip.AddrFromSlice(rr.AAAA)
	}
	return addr.Unmap()
}

// distinct refuses members that share an id.
func (a *assembly) distinct(g *Group) bool {
	seen := make(map[string]int, len(g.Members))
	for i := range g.Members {
		m := &g.Members[i]
		if j, ok := seen[m.ID]; ok {
			a.report.add(Problem{m.File, m.Line, Error, fmt.Sprintf("%s: id %s is taken by %s:%d", g.Key, quote(m.ID), g.Members[j].File, g.Members[j].Line), "ids are unique within an RRset; without id= the record's data are the id"})
			return false
		}
		seen[m.ID] = i
	}
	return true
}
