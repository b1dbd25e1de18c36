package app

import (
	"fmt"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"gslbd/cmd/internal/admin"
)

func TestParseQuestion(t *testing.T) {
	tests := []struct {
		q      admin.ExplainQuery
		name   string
		qtype  uint16
		client string
	}{
		{admin.ExplainQuery{Name: "www.example.com"}, "www.example.com.", dns.TypeA, "127.0.0.1"},
		{admin.ExplainQuery{Name: "WWW.", Type: "aaaa", Client: "2001:db8::1"}, "WWW.", dns.TypeAAAA, "2001:db8::1"},
		{admin.ExplainQuery{Name: ".", Type: "ns", Client: "::ffff:192.0.2.1"}, ".", dns.TypeNS, "192.0.2.1"},
		{admin.ExplainQuery{Name: `a\.b.example.com`, Type: "type257"}, `a\.b.example.com.`, dns.TypeCAA, "127.0.0.1"},
		{admin.ExplainQuery{Name: "_sip._tcp.example.com", Type: "SRV"}, "_sip._tcp.example.com.", dns.TypeSRV, "127.0.0.1"},
		{admin.ExplainQuery{Name: "*.example.com", Type: "TYPE65535"}, "*.example.com.", 65535, "127.0.0.1"},
		{admin.ExplainQuery{Name: "example.com", Type: "ANY"}, "example.com.", dns.TypeANY, "127.0.0.1"},
	}
	for _, tt := range tests {
		got, err := parseQuestion(tt.q)
		if err != nil || got.name != tt.name || got.qtype != tt.qtype || got.client.String() != tt.client {
			t.Errorf("%+v: got %+v, %v", tt.q, got, err)
		}
	}
}

// TestAsk: the question takes the way of every query, and a reply longer than
// a datagram comes whole.
func TestAsk(t *testing.T) {
	text, want := header, []string{}
	for i := 1; i <= 250; i++ {
		a := fmt.Sprintf("10.0.0.%d", i)
		text += "big A " + a + " ; @static\n"
		want = append(want, a)
	}
	cfg := configured(t, "", text)
	e, err := Explain(cfg, admin.ExplainQuery{Name: "BIG.example.com"})
	slices.Sort(want)
	slices.Sort(e.Answer)
	if err != nil || !slices.Equal(e.Answer, want) || e.TTL != 60 {
		t.Errorf("got %d records, %v", len(e.Answer), err)
	}
	e, err = Explain(cfg, admin.ExplainQuery{Name: "big.example.com", Type: "ANY"})
	if err != nil || e.RCode != "NOERROR" || len(e.Answer) != 1 {
		t.Errorf("ANY (RFC 8482): got %+v, %v", e, err)
	}
}

// TestAskWithSettings: what the settings make of a query is told, as a client would see it.
func TestAskWithSettings(t *testing.T) {
	cfg := configured(t, "dns: { any: refuse }\n", header+"www A 192.0.2.1\n")
	e, err := Explain(cfg, admin.ExplainQuery{Name: "www.example.com", Type: "ANY"})
	if err != nil || e.RCode != "REFUSED" || e.Reason != "queries of type ANY are refused (dns.any: refuse)" {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestLifetime(t *testing.T) {
	rr := func(text string) dns.RR {
		r, err := dns.NewRR(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	tests := []struct {
		reply dns.Msg
		want  uint32
	}{
		{dns.Msg{}, 0},
		{dns.Msg{Answer: []dns.RR{rr("a. 60 CNAME b."), rr("b. 30 A 192.0.2.1")}}, 30},
		{dns.Msg{Ns: []dns.RR{rr("a. 60 SOA a. b. 1 1 1 1 30")}}, 30},
		{dns.Msg{Ns: []dns.RR{rr("a. 20 SOA a. b. 1 1 1 1 30")}}, 20},
		{dns.Msg{Ns: []dns.RR{rr("a. 20 NS b.")}}, 0},
	}
	for _, tt := range tests {
		if got := lifetime(&tt.reply); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.reply, got, tt.want)
		}
	}
}
