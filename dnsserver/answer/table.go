// Package answer compiles zones and selections to ready bytes, and looks up
// which of them answer a query. A Table is immutable; what changes with health
// are its slots, one atomic pointer for each group, so any number of goroutines
// look up while one publishes.
package answer

import (
	"bytes"
	"hash/maphash"

	"gslbd/dnsserver/wire"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// Table is a set of compiled zones. Every answer comes from the one whose name
// is the longest suffix of the name asked.
type Table struct {
	seed   maphash.Seed
	index  []*Zone                  // open addressing by apex; the length is a power of two
	depths [wire.MaxLabels + 1]bool // label counts that some apex has
	deep   int                      // the greatest of them
	byName map[string]*Zone
}

// NewTable makes a table of zones, which may also be in other tables: a reload
// compiles what changed and shares the rest. Of two zones with one name the
// later counts.
func NewTable(zones ...*Zone) *Table {
	size := 2
	for size < 2*len(zones) {
		size *= 2
	}
	t := &Table{seed: maphash.MakeSeed(), index: make([]*Zone, size), byName: make(map[string]*Zone, len(zones))}
	for _, z := range zones {
		t.byName[z.name] = z
		t.depths[z.labels] = true
		t.deep = max(t.deep, z.labels)
		i := t.home(z.apex)
		for t.index[i] != nil && !bytes.Equal(t.index[i].apex, z.apex) {
			i = (i + 1) & (size - 1)
		}
		t.index[i] = z
	}
	return t
}

// home gives the place in the index where the search for an apex begins.
func (t *Table) home(apex []byte) int {
	return int(maphash.Bytes(t.seed, apex)) & (len(t.index) - 1)
}

// zone finds the zone that answers for name. A DS belongs to the parent's side
// of a cut (RFC 4035 §3.1.4.1), so it is asked of the zone above if that is here.
func (t *Table) zone(name *wire.Name, qtype uint16, r *Reply) *Zone {
	if t == nil {
		return nil
	}
	if r.table != t {
		r.table, r.zone = t, nil
	}
	// The zone of the name before, if this name is in it too and no zone is deeper.
	if z := r.zone; z != nil && z.labels == t.deep && qtype != wire.TypeDS && z.holds(name) {
		return z
	}
	var apex *Zone
	for n := min(name.Labels, t.deep); n >= 0; n-- {
		if !t.depths[n] {
			continue
		}
		z := t.at(name.Wire[name.Suffix(n):name.Len])
		if z == nil {
			continue
		}
		if qtype != wire.TypeDS || n < name.Labels {
			return z
		}
		apex = z
	}
	return apex
}

// at gives the zone of that apex, nil for none.
func (t *Table) at(apex []byte) *Zone {
	for i := t.home(apex); ; i = (i + 1) & (len(t.index) - 1) {
		z := t.index[i]
		if z == nil || bytes.Equal(z.apex, apex) {
			return z
		}
	}
}

// Publish compiles what a group answers from now on and stores it in the
// group's slot; a query sees the old answer or the new one, whole. A key that
// the table does not hold is ignored. Calls must not overlap.
func (t *Table) Publish(key zone.Key, sel steer.Selection) {
	if z := t.byName[key.Zone]; z != nil {
		if g, ok := z.groups[key]; ok {
			z.slots[g.slot].Store(z.choose(g, sel))
		}
	}
}
