package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/miekg/dns"
)

// zoneName is the zone of the packet measurements: 10,000 owner names, all of
// one length, so that the queries of a set have one length, too.
const zoneName = "bench.test."

// setSize is how many different queries a set holds; they are asked in turn.
const setSize = 16384

// kind is a sort of query and what the answer to it must be.
type kind struct {
	name    string
	letter  byte // the first of the owner name
	names   int
	qtype   uint16
	rcode   uint8
	answers uint16
}

func kinds() []kind {
	return []kind{
		{"A", 'p', 7000, dns.TypeA, dns.RcodeSuccess, 1},
		{"CNAME", 'c', 1000, dns.TypeA, dns.RcodeSuccess, 2},
		{"CNAME-itself", 'c', 1000, dns.TypeCNAME, dns.RcodeSuccess, 1},
		{"NODATA", 'p', 7000, dns.TypeTXT, dns.RcodeSuccess, 0},
		{"NXDOMAIN", 'n', 10000, dns.TypeA, dns.RcodeNameError, 0},
		{"steered-1", 's', 1000, dns.TypeA, dns.RcodeSuccess, 1},
		{"steered-4", 'g', 1000, dns.TypeA, dns.RcodeSuccess, 4},
	}
}

// mixed says how many of 20 queries of the mix are of each kind.
func mixed() []int { return []int{12, 2, 0, 1, 2, 1, 2} }

// querySet is one measurement's queries, all of the same size, one after the other.
type querySet struct {
	name string
	size int
	wire []byte
	kind []int // index in kinds, of each query
}

func (s *querySet) query(i int) []byte { return s.wire[i*s.size : (i+1)*s.size] }

// querySets makes each kind, and the mix, without and with EDNS; the same at every call.
func querySets() ([]*querySet, error) {
	random := rand.New(rand.NewPCG(1, 2))
	var drawn []int
	for k, n := range mixed() {
		for range n {
			drawn = append(drawn, k)
		}
	}
	var sets []*querySet
	for k := -1; k < len(kinds()); k++ {
		for _, edns := range []bool{false, true} {
			s := &querySet{name: "mix"}
			if k >= 0 {
				s.name = kinds()[k].name
			}
			if edns {
				s.name += "+edns"
			}
			for range setSize {
				of := k
				if k < 0 {
					of = drawn[random.IntN(len(drawn))]
				}
				packed, err := pack(kinds()[of], random, edns)
				if err != nil {
					return nil, err
				}
				s.size, s.wire, s.kind = len(packed), append(s.wire, packed...), append(s.kind, of)
			}
			sets = append(sets, s)
		}
	}
	return sets, nil
}

func pack(k kind, random *rand.Rand, edns bool) ([]byte, error) {
	m := new(dns.Msg).SetQuestion(fmt.Sprintf("%c%05d.%s", k.letter, random.IntN(k.names), zoneName), k.qtype)
	m.RecursionDesired = false
	if edns {
		m.SetEdns0(1232, false)
	}
	return m.Pack()
}

// sized is the set with the length that its answers have in ANCOUNT, where the
// floor looks for the length of its reply. lengths are those of each kind.
func (s *querySet) sized(lengths []int) *querySet {
	t := *s
	t.wire = append([]byte(nil), s.wire...)
	for i, k := range s.kind {
		binary.BigEndian.PutUint16(t.query(i)[6:], uint16(lengths[k]))
	}
	return &t
}

// followed is the set of a client that asks for the target of each CNAME, too.
func (s *querySet) followed() *querySet {
	t := &querySet{name: s.name, size: s.size}
	for i := range setSize / 2 {
		query := s.query(i)
		t.wire, t.kind = append(append(t.wire, query...), query...), append(t.kind, s.kind[i], 0)
		label := t.query(2*i + 1)[13:19] // behind header and length
		n, _ := strconv.Atoi(string(label[1:]))
		copy(label, target(n))
	}
	return t
}

// target is the label that the n-th CNAME leads to.
func target(n int) string { return fmt.Sprintf("p%05d", n*7) }

// writePacketZone writes the zone. To servers other than gslbd the annotations are comments.
func writePacketZone(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "$ORIGIN %s\n$TTL 60\n@ IN SOA ns1 host 1 3600 600 86400 60\n@ IN NS ns1\nns1 IN A 127.0.0.1\n", zoneName)
	for i := range 7000 {
		fmt.Fprintf(w, "p%05d IN A 10.0.%d.%d\np%05d IN AAAA 2001:db8::%x\n", i, i>>8, i&255, i, i)
	}
	for i := range 1000 {
		fmt.Fprintf(w, "c%05d IN CNAME %s\n", i, target(i))
		fmt.Fprintf(w, "s%05d IN A 10.1.%d.%d ; @primary check=none\n", i, i>>8, i&255)
		for member := range 4 {
			fmt.Fprintf(w, "g%05d IN A 10.%d.%d.%d ; @primary check=none\n", i, member+2, i>>8, i&255)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
