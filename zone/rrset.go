package zone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// MaxRRset bounds an RRset, in octets of records whose owners are compressed and
// whose data are not: it must fit into one message over TCP (RFC 1035 §4.2.2)
// with a question, an SOA and EDNS beside it.
const MaxRRset = 1<<16 - 1 - 2048

// place is where an RRset begins, or a record stands.
type place struct {
	line   int32
	file   uint16
	marked bool // annotated or @static
}

// assembly is the zone being put together from the records.
type assembly struct {
	*loader
	zone   *Zone
	places []place // parallel to zone.RRsets
	first  []int32 // index in zone.RRsets for each owner, and one more for the end
	rrs    []dns.RR
	ns     map[dns.RR]place // of NS records
	empty  map[string]bool  // empty non-terminals; made when first asked for
}

// assemble makes the zone. It reports every rule that the records break.
func (l *loader) assemble() *Zone {
	byOwner := func(a, b record) int {
		return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.typ, b.typ))
	}
	if !slices.IsSortedFunc(l.records, byOwner) {
		slices.SortStableFunc(l.records, byOwner)
	}
	sets := 0
	for i := range l.records {
		if i == 0 || byOwner(l.records[i-1], l.records[i]) != 0 {
			sets++
		}
	}
	a := &assembly{
		loader: l,
		zone:   &Zone{Name: l.zone, File: l.files[0], Files: l.files, RRsets: make([]RRset, 0, sets)},
		places: make([]place, 0, sets),
		first:  make([]int32, 0, len(l.owners)+1),
		rrs:    make([]dns.RR, 0, len(l.records)),
		ns:     map[dns.RR]place{},
	}
	for i, j := 0, 0; i < len(l.records); i = j {
		for j = i + 1; j < len(l.records) && byOwner(l.records[i], l.records[j]) == 0; {
			j++
		}
		for len(a.first) <= int(l.records[i].owner) {
			a.first = append(a.first, int32(len(a.zone.RRsets)))
		}
		a.gather(l.records[i:j])
		a.rest()
	}
	for len(a.first) <= len(l.owners) {
		a.first = append(a.first, int32(len(a.zone.RRsets)))
	}
	l.records = nil
	a.zone.Records = len(a.rrs)
	a.validate()
	return a.zone
}

// gather makes one RRset of its records.
func (a *assembly) gather(run []record) {
	lead := run[0]
	key := Key{Zone: a.loader.zone, Name: a.owners[lead.owner].name, Type: lead.typ}
	lowest := lead.rr.Header().Ttl
	if len(run) > 1 {
		for i := range run {
			lowest = min(lowest, run[i].rr.Header().Ttl)
		}
		run = a.unique(run, key)
	}
	a.doubled(run, key)
	steered, marked := a.steering(run, key)
	set := RRset{Name: key.Name, Type: key.Type, TTL: lead.rr.Header().Ttl}
	if steered {
		if set.Group = a.group(run, key); set.Group != nil {
			a.zone.Groups = append(a.zone.Groups, set.Group)
		}
	} else if len(run) > 1 || lowest < set.TTL {
		set.TTL = a.oneTTL(run, key, lowest)
		a.single(run, key)
	}
	from := len(a.rrs)
	for _, r := range run {
		r.rr.Header().Name = lead.rr.Header().Name
		a.rrs = append(a.rrs, r.rr)
		if key.Type == dns.TypeNS {
			a.ns[r.rr] = place{line: r.line, file: r.file}
		}
	}
	set.RRs = a.rrs[from:len(a.rrs):len(a.rrs)]
	a.bound(run, key)
	a.zone.RRsets = append(a.zone.RRsets, set)
	a.places = append(a.places, place{lead.line, lead.file, marked})
}

func (a *assembly) errorAt(r *record, key Key, message, hint string) {
	a.report.add(Problem{a.files[r.file], int(r.line), Error, key.String() + ": " + message, hint})
}

func (a *assembly) warnAt(r *record, key Key, message, hint string) {
	a.report.add(Problem{a.files[r.file], int(r.line), Warning, key.String() + ": " + message, hint})
}

// where names a record's place, for a message about another record.
func (a *assembly) where(r *record) string { return fmt.Sprintf("%s:%d", a.files[r.file], r.line) }

// unique drops records that stand there already.
func (a *assembly) unique(run []record, key Key) []record {
	if key.Type == dns.TypeSOA {
		return run
	}
	var byData map[string][]int
	if len(run) > 16 {
		byData = make(map[string][]int, len(run))
	}
	kept := run[:0]
	for _, r := range run {
		var twin *record
		if byData == nil {
			twin = find(kept, r.rr)
		} else {
			data := strings.ToLower(dataOf(r.rr))
			for _, i := range byData[data] {
				if dns.IsDuplicate(kept[i].rr, r.rr) {
					twin = &kept[i]
				}
			}
			if twin == nil {
				byData[data] = append(byData[data], len(kept))
			}
		}
		switch {
		case twin == nil:
			kept = append(kept, r)
		case twin.note > 0 || r.note > 0:
			a.errorAt(&r, key, "duplicate record in a group: it stands at "+a.where(twin)+" too", "remove one of them; use weight= for a greater share")
		default:
			a.warnAt(&r, key, "duplicate record: it stands at "+a.where(twin)+" too, and is kept once", "remove one of them")
		}
	}
	return kept
}

func find(records []record, rr dns.RR) *record {
	for i := range records {
		if dns.IsDuplicate(records[i].rr, rr) {
			return &records[i]
		}
	}
	return nil
}

// dataOf gives the RDATA in presentation form.
func dataOf(rr dns.RR) string {
	switch rr := rr.(type) {
	case *dns.A:
		return rr.A.String()
	case *dns.AAAA:
		if rr.AAAA.To4() != nil {
			return "::ffff:" + rr.AAAA.String()
		}
		return rr.AAAA.String()
	}
	return strings.TrimPrefix(rr.String(), rr.Header().String())
}

// oneTTL gives a plain RRset the lowest TTL of its records (RFC 2181 §5.2),
// which may be that of a duplicate. Signatures have the TTLs of what they sign
// (RFC 4034 §3).
func (a *assembly) oneTTL(run []record, key Key, ttl uint32) uint32 {
	if key.Type == dns.TypeRRSIG {
		return ttl
	}
	for i := range run {
		odd := &run[i]
		if odd.rr.Header().Ttl == run[0].rr.Header().Ttl {
			continue
		}
		a.warnAt(odd, key, fmt.Sprintf("TTL %d differs from TTL %d at %s; %d is used for all", odd.rr.Header().Ttl, run[0].rr.Header().Ttl, a.where(&run[0]), ttl), "give the records of one name and type one TTL")
		break
	}
	for _, r := range run {
		r.rr.Header().Ttl = ttl
	}
	return ttl
}

// single refuses a second record of types that may have but one.
func (a *assembly) single(run []record, key Key) {
	if len(run) < 2 {
		return
	}
	switch key.Type {
	case dns.TypeSOA:
		a.errorAt(&run[1], key, "second SOA; the first stands at "+a.where(&run[0]), "keep one of them")
	case dns.TypeCNAME:
		a.errorAt(&run[1], key, "second CNAME of one name; the first stands at "+a.where(&run[0]), "keep one, or annotate all with ; @POOL ... so that one is answered at a time")
	case dns.TypeDNAME:
		a.errorAt(&run[1], key, "second DNAME of one name; the first stands at "+a.where(&run[0]), "keep one of them")
	}
}

// bound refuses an RRset that no message can hold.
func (a *assembly) bound(run []record, key Key) {
	size := 0
	switch key.Type {
	case dns.TypeA:
		size = len(run) * (12 + 4)
	case dns.TypeAAAA:
		size = len(run) * (12 + 16)
	default:
		size = a.packed(run)
	}
	if size > MaxRRset {
		a.errorAt(&run[0], key, fmt.Sprintf("RRset of %d records has %d octets, more than a DNS message can hold (%d)", len(run), size, MaxRRset), "remove records, or spread them over several names")
	}
}

// packed gives the octets of the records: an estimate, and the true number where
// that comes near the bound.
func (a *assembly) packed(run []record) int {
	owner := dns.Len(&dns.ANY{Hdr: *run[0].rr.Header()}) - 10
	size := 0
	for _, r := range run {
		size += dns.Len(r.rr) - owner + 2
	}
	if size < MaxRRset/2 {
		return size
	}
	size = 0
	for _, r := range run {
		n, err := dns.PackRR(r.rr, a.rdata.room(), 0, nil, false)
		if err != nil {
			return MaxRRset + 1 // settle has packed it before
		}
		size += n - owner + 2
	}
	return size
}
