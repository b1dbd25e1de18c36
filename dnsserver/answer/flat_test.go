package answer_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
	"gslbd/dnsserver/answer"
	"gslbd/zone"
)

// flattened compiles a zone and takes it through Flatten and Unflatten.
func flattened(t testing.TB, z *zone.Zone) *answer.Zone {
	t.Helper()
	again, err := answer.Unflatten(bytes.NewReader(flat(t, z)), z.Groups, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func flat(t testing.TB, z *zone.Zone) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := compile(t, z).Flatten(&out, z.Groups, func() {}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A zone that was written and read again answers every question of the corpus
// with the same message, but for the rotation.
func TestFlattenedAnswers(t *testing.T) {
	s, again := rich(t), rich(t)
	var read []*answer.Zone
	for _, z := range again.zones {
		read = append(read, flattened(t, z))
	}
	again.table = answer.NewTable(read...)
	for key, sel := range again.chosen {
		if sel.MaxAnswers = 0; key.Type == dns.TypeCNAME && len(sel.Members) > 0 {
			sel.Members = sel.Members[:1] // else another one each time
		}
		s.table.Publish(key, sel)
		again.table.Publish(key, sel)
	}
	again.shared.Store(again.table)
	asked := 0
	for _, packet := range slices.Concat(caseQuestions(t), generated(t, s)) {
		for _, transport := range []dnsserver.Transport{dnsserver.UDP, dnsserver.TCP} {
			want := s.Respond(nil, packet, testClient(), transport)
			if got := again.Respond(nil, packet, testClient(), transport); unrotated(t, got) != unrotated(t, want) {
				t.Fatalf("asked %x\ngot  %x\nwant %x", packet, got, want)
			}
			asked++
		}
	}
	if asked < 10_000 {
		t.Errorf("only %d questions", asked)
	}
}

// unrotated is a message with its records in the order of their text.
func unrotated(t testing.TB, packet []byte) string {
	t.Helper()
	if len(packet) == 0 {
		return "none"
	}
	m := new(dns.Msg)
	if err := m.Unpack(packet); err != nil {
		t.Fatal(err)
	}
	for _, section := range [][]dns.RR{m.Answer, m.Ns, m.Extra} {
		slices.SortFunc(section, func(a, b dns.RR) int { return cmp.Compare(a.String(), b.String()) })
	}
	return fmt.Sprint(len(packet), m)
}

// What is cut off anywhere, or is nothing of the kind, is an error.
func TestUnflattenDamage(t *testing.T) {
	z := parse(t, "example.", "@ SOA ns1 host 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.1\nwww A 192.0.2.2 ; @primary check=none\nwww A 192.0.2.3 ; @secondary check=none\n")
	whole := flat(t, z)
	for n := range len(whole) {
		if _, err := answer.Unflatten(bytes.NewReader(whole[:n]), z.Groups, func() {}); err == nil {
			t.Fatalf("%d of %d bytes are enough", n, len(whole))
		}
	}
	for what, text := range map[string][]byte{
		"nothing of the kind": []byte("HTTP/1.1 200 OK\r\n\r\n"),
		"another mark":        bytes.Replace(whole, []byte("zone 2"), []byte("zone 1"), 1),
		"a size below 0":      bytes.Repeat([]byte{0xff}, 64),
		"a size beyond all":   append([]byte{0, 0, 0, 0, 0, 0, 0, 1}, whole...),
	} {
		if _, err := answer.Unflatten(bytes.NewReader(text), z.Groups, func() {}); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if _, err := answer.Unflatten(bytes.NewReader(whole), nil, func() {}); err == nil {
		t.Error("without its groups: no error")
	}
}

// A large zone is written and read in pieces, with a rest after each, and every
// name of it is found.
func TestUnflattenRests(t *testing.T) {
	const names = 20_000
	text := new(strings.Builder)
	text.WriteString("@ SOA ns1 host 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.1\n")
	for i := range names {
		fmt.Fprintf(text, "a-name-of-some-length-%d A 192.0.2.2\n", i)
	}
	z := parse(t, "example.", text.String())
	rested := 0
	if err := compile(t, z).Flatten(io.Discard, z.Groups, func() { rested++ }); err != nil || rested < 2*names/32 {
		t.Errorf("%d rests while it was written, want %d; %v", rested, 2*names/32, err)
	}
	whole := flat(t, z)
	rests, longest, last := 0, 0, 0
	in := bytes.NewReader(whole)
	read, err := answer.Unflatten(in, z.Groups, func() {
		longest, last = max(longest, len(whole)-in.Len()-last), len(whole)-in.Len()
		rests++
	})
	if err != nil {
		t.Fatal(err)
	}
	if least := len(whole)/(16<<10) + names/250; rests < least || longest > 17<<10 {
		t.Errorf("%d rests for %d bytes, at most %d without; want %d rests", rests, len(whole), longest, least)
	}
	s := serve(t, z)
	s.shared.Store(answer.NewTable(read))
	for i := range names {
		packet, err := new(dns.Msg).SetQuestion(fmt.Sprintf("a-name-of-some-length-%d.example.", i), dns.TypeA).Pack()
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := s.ask(t, packet, dnsserver.UDP); m == nil || len(m.Answer) != 1 {
			t.Fatalf("name %d: %v", i, m)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestFlattenFails(t *testing.T) {
	z := parse(t, "example.", "@ SOA ns1 host 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.1\n")
	if err := compile(t, z).Flatten(fullDisk{}, nil, func() {}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	if err := compile(t, z).Flatten(io.Discard, nil, func() {}); err != nil {
		t.Error(err)
	}
}
