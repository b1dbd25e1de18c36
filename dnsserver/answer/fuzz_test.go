package answer_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// types are those that random questions ask.
func types() []uint16 {
	return []uint16{
		dns.TypeA, dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeMX, dns.TypeNS, dns.TypeSOA, dns.TypeCNAME, dns.TypeDNAME,
		dns.TypeDS, dns.TypeANY, dns.TypePTR, dns.TypeSRV, dns.TypeRRSIG, dns.TypeHTTPS, dns.TypeCAA, dns.TypeNAPTR, dns.TypeHINFO,
		dns.TypeAXFR, dns.TypeOPT, 65400, 0,
	}
}

// known lists every name of the zones and every name that a case asks.
func known(t testing.TB, s *server) []string {
	var list []string
	for _, z := range s.zones {
		for _, r := range z.RRsets {
			list = append(list, r.Name)
		}
	}
	files, _ := filepath.Glob("testdata/cases/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if ask, ok := strings.CutPrefix(line, "> "); ok {
				list = append(list, strings.Fields(ask)[0])
			}
		}
	}
	return list
}

// labels are put in front of, or into, known names.
func labels() []string {
	return []string{"*", "a", "X", "www", "sub", "ent", "y", "child", "deep", "\\000", "a\\.b", "next", strings.Repeat("l", 63), "many", "dn"}
}

// question makes a random query from known names: cut, lengthened, in mixed case.
func question(rnd *rand.Rand, known []string) []byte {
	name := known[rnd.IntN(len(known))]
	for rnd.IntN(3) == 0 {
		name = parent(name)
	}
	for rnd.IntN(3) == 0 {
		l := labels()
		longer := l[rnd.IntN(len(l))] + "." + strings.TrimPrefix(name, ".")
		if n, err := dns.PackDomainName(longer, make([]byte, 512), 0, nil, false); err == nil && n <= 255 {
			name = longer
		}
	}
	m := new(dns.Msg)
	t := types()
	m.SetQuestion(mixed(rnd, name), t[rnd.IntN(len(t))])
	m.RecursionDesired = rnd.IntN(2) == 0
	if rnd.IntN(2) == 0 {
		sizes := []uint16{0, 512, 513, 600, 1231, 1232, 4096, 65535, uint16(512 + rnd.IntN(700))}
		m.SetEdns0(sizes[rnd.IntN(len(sizes))], rnd.IntN(2) == 0)
		m.IsEdns0().Option = randomOptions(rnd)
	}
	if rnd.IntN(20) == 0 {
		chaos := []string{"version.bind.", "VERSION.server.", "hostname.bind.", "id.server.", "other.bind.", name}
		m.Question[0] = dns.Question{Name: chaos[rnd.IntN(len(chaos))], Qtype: []uint16{dns.TypeTXT, dns.TypeTXT, dns.TypeA}[rnd.IntN(3)], Qclass: dns.ClassCHAOS}
	}
	packet, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return packet
}

func mixed(rnd *rand.Rand, name string) string {
	if rnd.IntN(2) == 0 {
		return name
	}
	b := []byte(name)
	for i, c := range b {
		if 'a' <= c && c <= 'z' && rnd.IntN(2) == 0 {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// TestRandomQuestions holds many random questions against the reference.
func TestRandomQuestions(t *testing.T) {
	s := rich(t)
	f, names := newReference(s), known(t, s)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		check(t, s, f, question(rnd, names))
	}
}

// FuzzRespond holds any packet against the reference: one made from the seed,
// with the bytes of noise written over it; and noise alone.
func FuzzRespond(f *testing.F) {
	s := rich(f)
	ref, names := newReference(s), known(f, s)
	for i := range uint64(50) {
		f.Add(i, []byte{}, uint16(0))
	}
	for i := range uint64(200) { // most have options
		f.Add(1000+i, []byte{}, uint16(0))
	}
	f.Add(uint64(1), []byte{0, 0, 0, 1}, uint16(9))
	f.Add(uint64(3), []byte("\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x0c\x00\x0a\x00\x08abcdefgh"), uint16(0))
	f.Add(uint64(2), []byte("\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x00\x00\x01\x00\x01"), uint16(0))
	f.Fuzz(func(t *testing.T, seed uint64, noise []byte, at uint16) {
		packet := question(rand.New(rand.NewPCG(seed, 0)), names)
		packet = append(packet[:min(int(at), len(packet))], append(noise, packet[min(int(at)+len(noise), len(packet)):]...)...)
		check(t, s, ref, packet)
		check(t, s, ref, noise)
		if len(noise) > 12 {
			binary.BigEndian.PutUint16(noise[4:], 1)
			check(t, s, ref, noise)
		}
	})
}
