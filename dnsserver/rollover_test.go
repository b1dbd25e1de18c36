package dnsserver

import (
	"testing"
	"time"

	"github.com/miekg/dns"
)

// A secret is rolled over while a client asks without a pause, far above the rate: who takes the cookies that come is never limited and never
// cut short; who keeps the first one is, from the moment on that its secret is gone.
func TestCookieRolloverUnderLimit(t *testing.T) {
	s := startLimited(t, Options{Workers: 2})
	a, b := [16]byte{1}, [16]byte{2}
	use := func(secrets ...[16]byte) {
		s.Shared().Set(Settings{UDPSize: 4096, UDPSizeWithoutCookie: 512, Cookies: true, CookieSecrets: secrets})
	}
	use(a)
	s.SetRateLimit(RateLimit{ResponsesPerSecond: 1, Slip: 1})
	conn := &dns.Conn{Conn: dial(t, "udp", s.Addrs()[0]), UDPSize: 4096}
	ask := func(cookie string) (next string, whole bool) {
		m := new(dns.Msg).SetQuestion("big"+inZone, dns.TypeA)
		m.SetEdns0(4096, false).IsEdns0().Option = []dns.EDNS0{cookieOption(cookie)}
		if err := conn.WriteMsg(m); err != nil {
			t.Fatal(err)
		}
		r, err := conn.ReadMsg()
		if err != nil || r.Id != m.Id || r.Rcode != 0 || r.Truncated == (len(r.Answer) == 130) {
			t.Fatalf("%v %v", r, err)
		}
		return r.IsEdns0().Option[0].(*dns.EDNS0_COOKIE).Cookie, len(r.Answer) == 130
	}
	current, whole := ask("2464c4abcf10c957")
	if whole {
		t.Fatal("without a server cookie all 130 records came")
	}
	first := current
	for step, secrets := range [][][16]byte{{a}, {a, b}, {b, a}, {a, b}, {b, a}, {b}} {
		use(secrets...)
		for i := range 200 {
			if current, whole = ask(current); !whole {
				t.Fatalf("step %d, query %d: cut short", step, i)
			}
			if i == 100 { // a limit that changes under it makes no difference
				s.SetRateLimit(RateLimit{ResponsesPerSecond: 1 + step%2, Slip: 1})
			}
		}
		if _, whole := ask(first); whole != (step < 5) {
			t.Errorf("step %d: with the first cookie whole: %v", step, whole)
		}
	}
	before := s.Stats().Outcomes
	for range 20 {
		if next, whole := ask(first); whole || next[:16] != first[:16] || next == first {
			t.Fatalf("with a cookie of a secret that is gone: %v %s", whole, next)
		}
	}
	if got := s.Stats().Outcomes; got.Slipped < before.Slipped+15-uint64(patience/time.Second) || got.Limited != 0 {
		t.Errorf("%+v, before %+v", got, before)
	}
}
