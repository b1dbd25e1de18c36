package dnsserver

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/zap"
)

// limitedResponder is a Responder with a limit whose clock the test moves.
type limitedResponder struct {
	*Responder
	t      *testing.T
	counts *AnswerCounts
	limit  *rateLimiter
}

func newLimited(t *testing.T, o RateLimit) *limitedResponder {
	r, counts := newTestResponder(t, map[string]string{"gslb.example.com.": strings.Replace(benchZone, "1-10000", "1-10", 1)})
	l := &limitedResponder{r, t, counts, newRateLimiter(o, zap.NewNop())}
	r.rate.Store(l.limit)
	return l
}

// outcomes gives what was counted.
func (l *limitedResponder) outcomes() (o Outcomes) {
	l.counts.AddTo(&o)
	return o
}

// ask asks n times over UDP: "." for the whole answer, "t" for a truncated one, "x" for none.
func (l *limitedResponder) ask(client string, k kind, n int) string {
	l.t.Helper()
	from := netip.AddrPortFrom(netip.MustParseAddr(client), 5000)
	packet := k.packet(l.t)
	whole := l.Respond(nil, packet, from, TCP)
	var b []byte
	for range n {
		reply := l.Respond(nil, packet, from, UDP)
		switch {
		case len(reply) == 0:
			b = append(b, 'x')
		case len(reply) == len(whole) && reply[2]&2 == 0:
			b = append(b, '.')
		default:
			var m dns.Msg
			if err := m.Unpack(reply); err != nil || !m.Truncated || m.Rcode != 0 || len(m.Answer)+len(m.Ns) != 0 || len(m.Question) != 1 || (m.IsEdns0() != nil) != k.edns || len(reply) != len(packet) {
				l.t.Errorf("%s: what slipped: %v %v", k.ask, err, &m)
			}
			b = append(b, 't')
		}
	}
	return string(b)
}

const inZone = ".gslb.example.com."

func TestRateLimitSteps(t *testing.T) {
	l := newLimited(t, RateLimit{ResponsesPerSecond: 5, Slip: 2})
	plain, other := kind{ask: "plain" + inZone, qtype: dns.TypeA, edns: true}, kind{ask: "PLAIN" + inZone, qtype: dns.TypeA}
	for _, step := range []struct {
		ms     int64
		client string
		k      kind
		want   string
	}{
		{0, "192.0.2.1", plain, ".....xtxt"},
		{0, "192.0.2.254", other, "xtx"},                                           // the same /24, the same name
		{0, "192.0.3.1", plain, ".....xt"},                                         // another one
		{0, "2001:db8:0:ff::1", plain, ".....xt"},                                  // a /56
		{0, "2001:db8:0:1::1", plain, "xt"},                                        // the same
		{0, "2001:db8:0:100::1", plain, ".....xt"},                                 // another
		{0, "192.0.2.1", kind{ask: "six" + inZone, qtype: dns.TypeAAAA}, ".....x"}, // another name
		{199, "192.0.2.1", plain, "txt"},
		{200, "192.0.2.1", plain, ".xt"},
		{1200, "192.0.2.1", plain, ".....x"},
		{60_000, "192.0.2.1", plain, ".....t"},
	} {
		l.limit.advance(step.ms * int64(time.Millisecond))
		if got := l.ask(step.client, step.k, len(step.want)); got != step.want {
			t.Errorf("at %d ms, %s: %s, want %s", step.ms, step.client, got, step.want)
		}
	}
	if got := l.outcomes(); got.Limited != 12 || got.Slipped != 11 || got.Spared != 0 || got.Truncated != 0 {
		t.Errorf("%+v", got)
	}
}

// What shares a count: what a client can make up without end does, other names and kinds do not.
func TestRateLimitClasses(t *testing.T) {
	k := func(name string, qtype uint16) kind { return kind{ask: name + inZone, qtype: qtype} }
	outside := kind{ask: "www.example.org.", qtype: dns.TypeA}
	for name, c := range map[string]struct {
		first, second kind
		shared        bool
	}{
		"one name, any type":         {k("plain", dns.TypeA), k("plain", dns.TypeANY), true},
		"two names":                  {k("host-1", dns.TypeA), k("host-2", dns.TypeA), false},
		"names of a wildcard":        {k("a.wild", dns.TypeA), k("b.c.wild", dns.TypeA), true},
		"names below a DNAME":        {k("a.dn", dns.TypeA), k("b.dn", dns.TypeA), true},
		"a wildcard and a DNAME":     {k("a.wild", dns.TypeA), k("a.dn", dns.TypeA), false},
		"names of a delegation":      {k("a.sub", dns.TypeA), k("b.c.sub", dns.TypeAAAA), true},
		"a delegation and its owner": {k("sub", dns.TypeNS), k("b.sub", dns.TypeNS), true},
		"names that do not exist":    {k("no", dns.TypeA), k("a.b.c.no", dns.TypeMX), true},
		"NXDOMAIN below an existing": {k("no.plain", dns.TypeA), k("no", dns.TypeA), true},
		"NODATA of two names":        {k("plain", dns.TypeMX), k("six", dns.TypeA), true},
		"NODATA of a wildcard":       {k("a.wild", dns.TypeMX), k("six", dns.TypeA), true},
		"NODATA and NXDOMAIN":        {k("plain", dns.TypeMX), k("no", dns.TypeA), false},
		"NODATA and an answer":       {k("plain", dns.TypeMX), k("plain", dns.TypeA), false},
		"REFUSED and SERVFAIL":       {outside, k("broken", dns.TypeA), true},
		"REFUSED and an answer":      {outside, k("plain", dns.TypeA), false},
		"two ways to an answer":      {k("alias", dns.TypeA), k("one", dns.TypeA), false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimited(t, RateLimit{ResponsesPerSecond: 1})
			first, second := l.ask("192.0.2.1", c.first, 2), l.ask("192.0.2.1", c.second, 2)
			want := map[bool]string{true: "xx", false: ".x"}[c.shared]
			if first != ".x" || second != want {
				t.Errorf("%s then %s, want .x then %s", first, second, want)
			}
		})
	}
}

// Errors have a rate of their own, malformed queries too; what slips of them keeps its code.
func TestRateLimitErrors(t *testing.T) {
	l := newLimited(t, RateLimit{ResponsesPerSecond: 5, ErrorsPerSecond: 2, Slip: 3})
	outside := kind{ask: "www.example.org.", qtype: dns.TypeA, edns: true}
	if got := l.ask("192.0.2.1", outside, 8); got != "..xx.xx." {
		t.Errorf("REFUSED: %s", got)
	}
	if got := l.ask("192.0.2.1", kind{ask: "plain" + inZone, qtype: dns.TypeA}, 6); got != ".....x" {
		t.Errorf("answers: %s", got)
	}
	good := kindsOfAnswers()[0].packet(t)
	status := append([]byte(nil), good...)
	status[2] |= 2 << 3
	version := new(dns.Msg).SetQuestion("plain"+inZone, dns.TypeA).SetEdns0(1232, false)
	version.IsEdns0().SetVersion(1)
	badVers, err := version.Pack()
	if err != nil {
		t.Fatal(err)
	}
	for i, packet := range [][]byte{good[:12], status, badVers} {
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i), 0, 1}), 53)
		var lengths []int
		for range 5 {
			lengths = append(lengths, len(l.Respond(nil, packet, from, UDP)))
		}
		n := lengths[0]
		if want := []int{n, n, 0, 0, n}; n < 12 || fmt.Sprint(lengths) != fmt.Sprint(want) {
			t.Errorf("packet %d: replies of %v octets, want %v", i, lengths, want)
		}
	}
	if got := l.outcomes(); got.Limited != 4+1+3*2 || got.Slipped != 2+3 {
		t.Errorf("%+v", got)
	}
}

// TCP, exempt clients and holders of a cookie are not limited, and do not use up what others have.
func TestRateLimitExempt(t *testing.T) {
	l := newLimited(t, RateLimit{ResponsesPerSecond: 2, Exempt: []netip.Prefix{netip.MustParsePrefix("192.0.2.8/29"), netip.MustParsePrefix("2001:db8::/32")}})
	plain := kind{ask: "plain" + inZone, qtype: dns.TypeA}
	for client, want := range map[string]string{"192.0.2.9": "......", "2001:db8::1": "......", "192.0.2.7": "..xxxx", "2001:db9::1": "..xxxx"} {
		if got := l.ask(client, plain, 6); got != want {
			t.Errorf("%s: %s, want %s", client, got, want)
		}
	}
	packet, from := plain.packet(t), netip.MustParseAddrPort("192.0.2.7:53")
	for range 5 {
		if len(l.Respond(nil, packet, from, TCP)) == 0 {
			t.Fatal("limited over TCP")
		}
		msg := []byte{0, 0, 0, 0}
		if got := l.limited(l.limit, msg, from.Addr(), true); len(got) != 4 {
			t.Fatal("limited with a cookie")
		}
	}
}

func TestRateLimitLogOnly(t *testing.T) {
	l := newLimited(t, RateLimit{ResponsesPerSecond: 2, Slip: 2, LogOnly: true})
	if got := l.ask("192.0.2.9", kind{ask: "plain" + inZone, qtype: dns.TypeA}, 9); got != "........." {
		t.Error(got)
	}
	if got := l.outcomes(); got.Spared != 7 || got.Limited+got.Slipped != 0 {
		t.Errorf("%+v", got)
	}
}

// Under a flood with forged sources from everywhere a client within its rate gets its answers, and a victim few.
func TestRateLimitFlood(t *testing.T) {
	l := newLimited(t, RateLimit{ResponsesPerSecond: 10, TableSize: 2000})
	plain, random := kind{ask: "plain" + inZone, qtype: dns.TypeA}, rand.New(rand.NewPCG(1, 2))
	packet := plain.packet(t)
	dst := make([]byte, 0, 1232)
	from := func() netip.AddrPort {
		v := random.Uint32()
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), 53)
	}
	honest, victim := 0, 0
	for ms := int64(0); ms < 5000; ms += 50 {
		l.limit.advance(ms * int64(time.Millisecond))
		for range 1000 {
			l.Respond(dst, packet, from(), UDP)
		}
		victim += strings.Count(l.ask("192.0.2.1", plain, 100), ".")
		if ms%100 == 0 {
			honest += strings.Count(l.ask("198.51.100.1", plain, 1), ".")
		}
	}
	if honest < 45 || victim > 70 {
		t.Errorf("the honest client got %d of 50 answers, the victim %d of 10000; want nearly all, and 60", honest, victim)
	}
}

// Every sort of answer is limited without allocating.
func TestRateLimitAllocatesNothing(t *testing.T) {
	for _, o := range []RateLimit{{ResponsesPerSecond: 30000}, {ResponsesPerSecond: 1}, {ResponsesPerSecond: 1, Slip: 1}, {ResponsesPerSecond: 1, LogOnly: true, Exempt: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}} {
		l := newLimited(t, o)
		dst := make([]byte, 0, 1232)
		for _, k := range kindsOfAnswers() {
			packet := k.packet(t)
			for _, from := range []string{"192.0.2.1:53", "[2001:db8::1]:53"} {
				client := netip.MustParseAddrPort(from)
				if n := testing.AllocsPerRun(100, func() { l.Respond(dst, packet, client, UDP) }); n != 0 {
					t.Errorf("%+v, %s: %v allocations", o, k.name, n)
				}
			}
		}
	}
}

// Several goroutines answer with one limit, while its clock runs.
func TestRateLimitShared(t *testing.T) {
	first := newLimited(t, RateLimit{ResponsesPerSecond: 100, Slip: 2})
	var all sync.WaitGroup
	packet := kind{ask: "plain" + inZone, qtype: dns.TypeA}.packet(t)
	for i := range 4 {
		all.Go(func() {
			r := NewResponder(first.table, first.counts)
			r.rate = first.Responder.rate
			for range 5000 {
				r.Respond(nil, packet, netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 53), UDP)
			}
		})
	}
	for range 100 {
		first.limit.advance(0)
	}
	all.Wait()
	if got := first.outcomes(); got.Positive != 20000 || got.Limited+got.Slipped != 20000-100 || got.Slipped != 9950 {
		t.Errorf("%+v", got)
	}
}

// Cookies end the limit: a truncated reply brings one, and whoever sends it back gets every answer. What the last query was tells
// nothing about the next.
func TestRateLimitAndCookies(t *testing.T) {
	l := newLimited(t, RateLimit{ResponsesPerSecond: 1, Slip: 1})
	ask := func(cookie string, class uint16) *dns.Msg {
		m := new(dns.Msg).SetQuestion("plain"+inZone, dns.TypeA)
		m.Question[0].Qclass = class
		m.SetEdns0(1232, false)
		if cookie != "" {
			m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: cookie}}
		}
		packet, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		reply := new(dns.Msg)
		if err := reply.Unpack(l.Respond(nil, packet, netip.MustParseAddrPort("192.0.2.1:4000"), UDP)); err != nil {
			t.Fatal(err)
		}
		return reply
	}
	const client = "0102030405060708"
	ask(client, dns.ClassINET)
	over := ask(client, dns.ClassINET)
	if !over.Truncated || len(over.Answer) != 0 || len(over.IsEdns0().Option) != 1 {
		t.Fatalf("over the limit: %v", over)
	}
	cookie := over.IsEdns0().Option[0].(*dns.EDNS0_COOKIE).Cookie
	for range 3 {
		if m := ask(cookie, dns.ClassINET); m.Truncated || len(m.Answer) != 1 {
			t.Fatalf("with a cookie: %v", m)
		}
		if m := ask("", dns.ClassINET); !m.Truncated {
			t.Fatalf("without a cookie, after one with: %v", m)
		}
	}
	for range 3 { // answers of no zone count with the errors, wherever the last answer came from
		ask("", dns.ClassCHAOS)
	}
}
