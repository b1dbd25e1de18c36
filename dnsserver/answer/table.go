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
	index  []entry                  // open addressing by apex; the length is a power of two
	depths [wire.MaxLabels + 1]bool // label counts that some apex has
	deep   int                      // the greatest of them
	byName map[string]*Zone
}

// entry is a zone of the table; its zero value is a free place.
type entry struct {
	zone *Zone
	leaf bool // no zone of the table is below it
}

// NewTable makes a table of zones, which may also be in other tables: one that
// is loaded anew need not take the others along. Of two zones with one name the
// later counts.
func NewTable(zones ...*Zone) *Table {
	size := 2
	for size < 2*len(zones) {
		size *= 2
	}
	t := &Table{seed: maphash.MakeSeed(), index: make([]entry, size), byName: make(map[string]*Zone, len(zones))}
	for _, z := range zones {
		t.byName[z.name] = z
		t.depths[z.labels] = true
		t.deep = max(t.deep, z.labels)
		i := t.home(z.apex)
		for t.index[i].zone != nil && !bytes.Equal(t.index[i].zone.apex, z.apex) {
			i = (i + 1) & (size - 1)
		}
		t.index[i] = entry{z, true}
	}
	for _, z := range zones {
		for up := z.apex; len(up) > 1; {
			up = up[1+up[0]:]
			t.at(up).leaf = false // free places too, which nobody looks at
		}
	}
	return t
}

// home gives the place in the index where the search for an apex begins.
func (t *Table) home(apex []byte) int {
	return int(maphash.Bytes(t.seed, apex)) & (len(t.index) - 1)
}

// zone finds the entry, if any, of the zone that answers for name. A DS belongs
// to the parent's side of a cut (RFC 4035 §3.1.4.1), so it is asked of the zone
// above if that is here.
func (t *Table) zone(name *wire.Name, qtype uint16) entry {
	if t == nil {
		return entry{}
	}
	var apex entry
	for n := min(name.Labels, t.deep); n >= 0; n-- {
		if !t.depths[n] {
			continue
		}
		e := *t.at(name.Wire[name.Suffix(n):])
		if e.zone == nil {
			continue
		}
		if qtype != wire.TypeDS || n < name.Labels {
			return e
		}
		apex = e
	}
	return apex
}

// at gives the entry of that apex, a free place if there is none.
func (t *Table) at(apex []byte) *entry {
	for i := t.home(apex); ; i = (i + 1) & (len(t.index) - 1) {
		e := &t.index[i]
		if e.zone == nil || bytes.Equal(e.zone.apex, apex) {
			return e
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
