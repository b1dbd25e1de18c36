package app

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gslbd/cmd/internal/admin"
	"gslbd/zone"
)

const explainZone = header + pairs + `
only A 127.0.0.3 ; @primary check=web policy=last
*.cdn A 127.0.0.4 ; @primary check=web
*.cdn A 127.0.0.5 ; @fallback
x.cdn TXT "here"
y.cdn A 127.0.0.6
plain A 127.0.0.7
alias CNAME www
far CNAME www.example.org.
sub NS ns.sub
ns.sub A 127.0.0.8
two CNAME www ; @primary target=127.0.0.1 check=web
two CNAME plain ; @secondary target=127.0.0.1 check=web
big A 127.0.0.9 ; @primary check=none
big A 127.0.0.10 ; @primary check=none
`

func TestExplain(t *testing.T) {
	cfg := configured(t, checksText, explainZone)
	const primary = `pool "primary" answers (1 of 1 up)`
	tests := []struct {
		q    admin.ExplainQuery
		want string // RCODE ANSWER pool/policy ttl: reason
	}{
		{admin.ExplainQuery{Name: "www.example.com"}, `NOERROR [127.0.0.1] primary/failover 60: ` + primary},
		{admin.ExplainQuery{Name: "WWW.example.COM.", Type: "a"}, `NOERROR [127.0.0.1] primary/failover 60: ` + primary},
		{admin.ExplainQuery{Name: "www.example.com", Down: []string{"tokyo"}},
			`NOERROR [127.0.0.2] secondary/failover 60: pool "primary" is down (0 of 1 up); pool "secondary" answers`},
		{admin.ExplainQuery{Name: "www.example.com", Down: []string{"www.example.com"}},
			`NOERROR [127.0.0.1] primary/failover 60: pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); the last good answer is kept`},
		{admin.ExplainQuery{Name: "www.example.com", Down: []string{"*"}, Up: []string{"osaka"}},
			`NOERROR [127.0.0.2] secondary/failover 60: pool "primary" is down (0 of 1 up); pool "secondary" answers`},
		{admin.ExplainQuery{Name: "only.example.com", Down: []string{"pool:primary"}},
			`NOERROR [] /last 30: pool "primary" is down (0 of 1 up); the answer is empty (NODATA)`},
		{admin.ExplainQuery{Name: "a.b.cdn.example.com"}, `NOERROR [127.0.0.4] primary/failover 60: ` + primary},
		{admin.ExplainQuery{Name: "a.cdn.example.com", Down: []string{"*.cdn.example.com"}},
			`NOERROR [127.0.0.5] fallback/failover 60: pool "primary" is down (0 of 1 up); fallback pool "fallback" answers`},
		{admin.ExplainQuery{Name: "x.cdn.example.com"}, `NOERROR [] / 30: x.cdn.example.com has no A record`},
		{admin.ExplainQuery{Name: "y.cdn.example.com"}, `NOERROR [127.0.0.6] / 60: y.cdn.example.com/A is not steered: it is answered as the zone has it`},
		{admin.ExplainQuery{Name: "x.cdn.example.com", Type: "TXT"}, `NOERROR ["here"] / 60: x.cdn.example.com/TXT is not steered: it is answered as the zone has it`},
		{admin.ExplainQuery{Name: "alias.example.com"}, `NOERROR [127.0.0.1] primary/failover 60: alias.example.com is an alias of www.example.com; ` + primary},
		{admin.ExplainQuery{Name: "alias.example.com", Type: "CNAME"}, `NOERROR [www.example.com.] / 60: alias.example.com/CNAME is not steered: it is answered as the zone has it`},
		{admin.ExplainQuery{Name: "two.example.com"}, `NOERROR [127.0.0.1] primary/failover 60: two.example.com is an alias of www.example.com; ` + primary + `; ` + primary},
		{admin.ExplainQuery{Name: "two.example.com", Down: []string{"two.example.com/CNAME/www*"}},
			`NOERROR [127.0.0.7] secondary/failover 60: two.example.com is an alias of plain.example.com; pool "primary" is down (0 of 1 up); pool "secondary" answers; plain.example.com/A is not steered: it is answered as the zone has it`},
		{admin.ExplainQuery{Name: "far.example.com"}, `NOERROR [] / 60: far.example.com is an alias of www.example.org; www.example.org is outside every zone served here`},
		{admin.ExplainQuery{Name: "host.sub.example.com"}, `NOERROR [] / 0: sub.example.com is delegated to other name servers`},
		{admin.ExplainQuery{Name: "nix.example.com"}, `NXDOMAIN [] / 30: nix.example.com does not exist in zone example.com`},
		{admin.ExplainQuery{Name: "www.example.com", Type: "AAAA"}, `NOERROR [] / 30: www.example.com has no AAAA record`},
		{admin.ExplainQuery{Name: "www.example.com", Type: "TYPE65280"}, `NOERROR [] / 30: www.example.com has no TYPE65280 record`},
		{admin.ExplainQuery{Name: "example.com", Type: "AXFR"}, `REFUSED [] / 0: the reply is REFUSED`},
		{admin.ExplainQuery{Name: "example.org"}, `REFUSED [] / 0: example.org is outside every zone served here; the nearest name is example.com`},
		{admin.ExplainQuery{Name: "WWW.exmaple.com"}, `REFUSED [] / 0: WWW.exmaple.com is outside every zone served here; the nearest name is www.example.com`},
		{admin.ExplainQuery{Name: "www"}, `REFUSED [] / 0: www is outside every zone served here; the nearest name is www.example.com`},
		{admin.ExplainQuery{Name: "quite.another.test"}, `REFUSED [] / 0: quite.another.test is outside every zone served here; zones are example.com`},
	}
	for _, tt := range tests {
		e, err := Explain(cfg, tt.q)
		if err != nil {
			t.Errorf("%+v: %v", tt.q, err)
			continue
		}
		got := fmt.Sprintf("%s %v %s/%s %d: %s", e.RCode, e.Answer, e.Pool, e.Policy, e.TTL, e.Reason)
		if got != tt.want {
			t.Errorf("%+v\n got  %s\n want %s", tt.q, got, tt.want)
		}
		if e.Answer == nil || e.Client != "127.0.0.1" || e.Scope != 0 || strings.HasSuffix(e.Name, ".") {
			t.Errorf("%+v: got %+v", tt.q, e)
		}
	}
}

func TestExplainBadQuestions(t *testing.T) {
	cfg := configured(t, checksText, header+pairs)
	tests := []struct {
		q       admin.ExplainQuery
		status  int
		message string
		hint    string
	}{
		{admin.ExplainQuery{}, 400, `the name is empty`, "dot"},
		{admin.ExplainQuery{Name: "a..b"}, 400, `"a..b" is not a domain name`, "labels"},
		{admin.ExplainQuery{Name: "münchen.example.com"}, 400, `is not a domain name`, "xn--"},
		{admin.ExplainQuery{Name: "a b"}, 400, `is not a domain name`, "labels"},
		{admin.ExplainQuery{Name: strings.Repeat("x", 64)}, 400, `is not a domain name`, "labels"},
		{admin.ExplainQuery{Name: "www", Type: "AAA"}, 400, `"AAA" is not a record type`, "did you mean "},
		{admin.ExplainQuery{Name: "a", Type: "www.example.com"}, 400, `"www.example.com" is not a record type`, "the name comes first: www.example.com A"},
		{admin.ExplainQuery{Name: "www", Type: "TYPE70000"}, 400, `"TYPE70000" is not a record type`, ""},
		{admin.ExplainQuery{Name: "www", Type: "TYPE12x"}, 400, `"TYPE12x" is not a record type`, ""},
		{admin.ExplainQuery{Name: "www", Client: "here"}, 400, `client "here" is not an IP address`, "192.0.2.1"},
		{admin.ExplainQuery{Name: "www", Down: []string{"tokio"}}, 404, `selector "tokio" matches no member`, `did you mean "tokyo"?`},
		{admin.ExplainQuery{Name: "www", Up: []string{"pool:third"}}, 404, `selector "pool:third" matches no member`, ""},
	}
	for _, tt := range tests {
		_, err := Explain(cfg, tt.q)
		e, ok := errors.AsType[*admin.Error](err)
		if !ok || e.Status != tt.status || !strings.Contains(e.Message, tt.message) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%+v: got %#v", tt.q, err)
		}
	}
	put(t, "a.zone", "broken")
	if _, err := Explain(cfg, admin.ExplainQuery{Name: "www"}); err == nil || !strings.HasPrefix(err.Error(), "a.zone:1: ") {
		t.Errorf("got %v", err)
	} else if _, ok := errors.AsType[zone.Problems](err); !ok {
		t.Errorf("got %T", err)
	}
}

// TestExplainLive: the running answer, what if from there, and what the files
// say although the server has another version of them.
func TestExplainLive(t *testing.T) {
	a, _ := launch(t, checksText+"watch: false\n", header+pairs+"gone A 127.0.0.1 ; @primary check=ping target=127.0.0.1\n")
	put(t, "a.zone", header+strings.ReplaceAll(pairs, "127.0.0.2", "127.0.0.22"))
	tests := []struct {
		q    admin.ExplainQuery
		want string
	}{
		{admin.ExplainQuery{Name: "www.example.com", Live: true}, "[127.0.0.1] primary"},
		{admin.ExplainQuery{Name: "gone.example.com", Live: true}, "[127.0.0.1] primary"},
		{admin.ExplainQuery{Name: "www.example.com", Down: []string{"tokyo"}}, "[127.0.0.22] secondary"},
		{admin.ExplainQuery{Name: "www.example.com", Down: []string{"tokyo"}, Live: true}, "[127.0.0.22] secondary"},
		{admin.ExplainQuery{Name: "gone.example.com"}, "[] "},
	}
	for _, tt := range tests {
		e, err := a.Explain(tt.q)
		if got := fmt.Sprintf("%v %s", e.Answer, e.Pool); err != nil || got != tt.want {
			t.Errorf("%+v: got %s, %v, want %s", tt.q, got, err, tt.want)
		}
	}
	if got := query(t, a, "www.example.com"); got != "127.0.0.1" {
		t.Errorf("explaining changed the answer: %s", got)
	}
	if _, err := a.Explain(admin.ExplainQuery{Name: "a..b", Live: true}); err == nil {
		t.Error("a..b was explained")
	}
}
