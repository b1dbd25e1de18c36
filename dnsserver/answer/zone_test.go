package answer

import (
	"fmt"
	"testing"

	"gslbd/zone"
)

// What an answer needs stands together: the node, its name, its sets, and their
// bodies in the order of the sets.
func TestNodesStandTogether(t *testing.T) {
	z := floodZone(t, 3000, "text.example.com. 60 TXT a", "alias.example.com. 60 CNAME host-0.example.com.")
	for _, at := range z.nodes(func() {}) {
		if at%align != 0 {
			t.Fatalf("%q at %d, not a multiple of %d", z.owner(at), at, align)
		}
		n, next := z.node(at), at+nodeSize
		if n.sets == 0 {
			continue // nothing to fetch
		}
		next = (next + uint32(n.size) + align - 1) / align * align
		if n.first != next {
			t.Fatalf("%q at %d: sets at %d, want %d", z.owner(at), at, n.first, next)
		}
		next += setSize * uint32(n.sets)
		for _, s := range z.sets(n) {
			if s.target != 0 {
				next += linkSize
			}
			if s.at != next {
				t.Fatalf("%q: type %d at %d, want %d", z.owner(at), s.typ, s.at, next)
			}
			next += uint32(s.size) + 2*uint32(s.pointers) + uint32(s.target)
		}
	}
	first := z.nodes(func() {})[0]
	s := z.sets(z.node(first))[0]
	if string(z.owner(first)) != "\x06host-0" || s.at+uint32(s.size)-first != 52 {
		t.Errorf("%q: an A record of a name of 7 bytes does not stand in 52: %+v", z.owner(first), s)
	}
}

// upwards is a zone whose names come from the deepest up, its apex last.
func upwards(t *testing.T, n int) *Zone {
	t.Helper()
	src := &zone.Zone{Name: "example.com."}
	add := func(format string, args ...any) {
		src.RRsets = append(src.RRsets, rrsetOf(t, fmt.Sprintf(format, args...)))
	}
	add("a.late.example.com. 60 A 192.0.2.1")
	for i := range n {
		add("a.b.c%d.example.com. 60 A 192.0.2.1", i) // b stays empty
		add("c%d.example.com. 60 A 192.0.2.2", i)
		add("c%d.example.com. 60 TXT t", i)
	}
	add("late.example.com. 60 A 192.0.2.3")
	add("example.com. 60 SOA . . 1 1 1 1 1")
	z, err := CompileZone(src)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Names that come after the ones below them have their sets elsewhere, and all
// are found; what has no sets is fetched without harm.
func TestNamesFromTheDeepestUp(t *testing.T) {
	const names = 2000
	z := upwards(t, names)
	if late := z.nodes(func() {})[0]; string(z.owner(late)) != "\x04late" || z.node(late).first <= 1<<16 {
		t.Errorf("%q is first, with sets at %d: what must not be taken for a set looks harmless", z.owner(late), z.node(late).first)
	}
	b, table := NewBatch(minAhead), NewTable(z)
	for i := range names {
		for k, format := range []string{"a.b.c%d.", "b.c%d.", "c%d.", "x.c%d."} {
			name := fmt.Sprintf(format+"example.com.", i)
			b.Questions[k].Name = *asked(t, name)
			at, exact := z.find(&b.Questions[k].Name)
			want := []int{1, 0, 2, 2}[k] // RRsets; x is not there, what encloses it is
			if exact != (k < 3) || len(z.sets(z.node(at))) != want {
				t.Fatalf("%s: found %v, %q, with %d sets, want %d", name, exact, z.owner(at), len(z.sets(z.node(at))), want)
			}
		}
		b.Find(table, minAhead)
		for k, q := range b.Questions {
			if at, exact := z.find(&q.Name); q.exact != exact || exact && q.node != at {
				t.Fatalf("%d: question %d at node %d, %v; want %d, %v", i, k, q.node, q.exact, at, exact)
			}
		}
	}
}
