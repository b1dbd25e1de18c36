package answer

import "gslbd/dnsserver/wire"

// Source tells, after Lookup, where in the question's name (Query.Name) the part begins that the answer comes from: 0 for a name that
// exists, else the owner of the delegation or DNAME above it or the parent of the wildcard; of a negative answer, the zone's apex. All
// names that a client can make up below a Source have the same one. It means nothing when the Kind is Refused.
func (r *Reply) Source() int {
	if r.Kind == NoData || r.Kind == NXDomain {
		return r.origin - wire.HeaderSize
	}
	return r.source - wire.HeaderSize
}
