package answer

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver/wire"
	"gslbd/zone"
)

// rrsetOf makes an RRset of one record.
func rrsetOf(t *testing.T, text string) zone.RRset {
	t.Helper()
	rr, err := dns.NewRR(text)
	if err != nil {
		t.Fatal(err)
	}
	return zone.RRset{Name: rr.Header().Name, Type: rr.Header().Rrtype, TTL: 60, RRs: []dns.RR{rr}}
}

// floodZone has n names below example.com, at depths 1 to 5.
func floodZone(t *testing.T, n int, more ...string) *Zone {
	t.Helper()
	src := &zone.Zone{Name: "example.com.", Records: n}
	add := func(text string) { src.RRsets = append(src.RRsets, rrsetOf(t, text)) }
	add("example.com. 60 SOA host-0 host 1 1 1 1 1")
	for i := range n {
		add(fmt.Sprintf("host-%d.%sexample.com. 60 A 192.0.2.1", i, strings.Repeat(fmt.Sprintf("d%d.", i%97), i%5)))
	}
	for _, text := range more {
		add(text)
	}
	z, err := CompileZone(src)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// asked is a name as a packet brings it.
func asked(t *testing.T, text string) *wire.Name {
	t.Helper()
	m := new(dns.Msg)
	packet, err := m.SetQuestion(text, dns.TypeA).Pack()
	if err != nil {
		t.Fatal(err)
	}
	q := new(wire.Query)
	if got := wire.Parse(packet, q); got != wire.OK {
		t.Fatalf("%s: %v", text, got)
	}
	return &q.Name
}

// work counts what find does for a name: names hashed, and places of the table looked at.
func work(z *Zone, name *wire.Name) (hashed, looked int, encloser uint32) {
	end, below := len(name.Wire)-len(z.apex), name.Labels-z.labels
	try := func(labels int) (uint32, bool) {
		rel := name.Wire[name.Suffix(z.labels+labels):end]
		h, mask := z.hash(rel), uint64(len(z.index)-1)
		hashed++
		at, ok := z.probe(rel, h)
		for i := h & mask; ; i = (i + 1) & mask {
			looked++
			if p := z.index[i].node; p == 0 || ok && p == at {
				return at, ok
			}
		}
	}
	if below <= z.depth {
		if i, ok := try(below); ok {
			return hashed, looked, i
		}
	}
	for low, high := 0, min(below-1, z.depth); low < high; {
		mid := (low + high + 1) / 2
		if i, ok := try(mid); ok {
			encloser, low = i, mid
		} else {
			high = mid - 1
		}
	}
	return hashed, looked, encloser
}

// TestFloodCostsAsMuchAsHits counts the work for random names, which no cache and no zone knows, beside that for names that exist: the
// number of labels asked does not matter, that of the zone's only as its logarithm, and nobody outside can aim at a full part of the table.
func TestFloodCostsAsMuchAsHits(t *testing.T) {
	const names, questions = 50_000, 20_000
	z := floodZone(t, names)
	most := 1 + bits.Len(uint(z.depth))
	rnd := rand.New(rand.NewPCG(1, 2))
	label := func() string { return fmt.Sprintf("%x.", rnd.Uint64()) }
	for _, c := range []struct {
		kind   string
		name   func() string
		hashed float64 // on average, at most
	}{
		{"hit", func() string {
			i := rnd.IntN(names)
			return fmt.Sprintf("host-%d.%s", i, strings.Repeat(fmt.Sprintf("d%d.", i%97), i%5))
		}, 1},
		{"random label", label, 1},
		{"random label below a name", func() string { return label() + fmt.Sprintf("host-%d.", 5*rnd.IntN(names/5)) }, 3},
		{"deep and random", func() string { return label() + label() + label() + label() + label() + label() }, 3},
		{"110 labels", func() string {
			var b strings.Builder
			for range 110 {
				b.WriteString(string(rune('a'+rnd.IntN(26))) + ".")
			}
			return b.String()
		}, 3},
	} {
		hashes, looks, worst := 0, 0, 0
		for range questions {
			name := asked(t, c.name()+"example.com.")
			hashed, looked, encloser := work(z, name)
			if at, _ := z.find(name); at != encloser {
				t.Fatalf("%s: counted for node %d, found node %d", c.kind, encloser, at)
			}
			if hashed > most {
				t.Fatalf("%s: %d names hashed, at most %d", c.kind, hashed, most)
			}
			hashes, looks, worst = hashes+hashed, looks+looked, max(worst, looked)
		}
		perName, perHash := float64(hashes)/questions, float64(looks)/float64(hashes)
		t.Logf("%-26s %.2f names hashed, %.2f places looked at for each, %d at worst", c.kind, perName, perHash, worst)
		if perName > c.hashed || perHash > 2.6 || worst > 100 {
			t.Errorf("%s: more than %v, 2.6 and 100", c.kind, c.hashed)
		}
	}
}
