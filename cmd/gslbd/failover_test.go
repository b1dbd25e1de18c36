package main_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// quick are checks that react within a few hundred milliseconds.
const quick = `
checks:
  web:  { type: http, interval: 100ms, timeout: 500ms, fall: 2, rise: 2 }
  port: { type: tcp, interval: 100ms, timeout: 500ms, fall: 2, rise: 2 }
  smtp: { type: tcp, expect: "220 ", interval: 100ms, timeout: 500ms, fall: 2, rise: 2 }
  ping: { type: icmp, interval: 100ms, timeout: 500ms, fall: 2, rise: 2 }
`

const (
	primaryAnswers   = `healthy primary: pool "primary" answers (1 of 1 up)`
	secondaryAnswers = `degraded secondary: pool "primary" is down (0 of 1 up); pool "secondary" answers`
	bothDown         = `pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); the last good answer is kept`
)

// TestTruthTable goes through every row of the table of the failover policy,
// and reaches the last one from both sides.
func TestTruthTable(t *testing.T) {
	t.Parallel()
	first, second := webTarget(t, "127.0.0.10:0"), webTarget(t, "127.0.0.11:0")
	s := serve(t, site(t, quick, fmt.Sprintf(`
www A 127.0.0.10 ; @primary   check=web target=%s
www A 127.0.0.11 ; @secondary check=web target=%s`, first.address, second.address)))
	tests := []struct {
		first, second bool
		answer        string
		status        string
	}{
		{true, true, "127.0.0.10", primaryAnswers},
		{true, false, "127.0.0.10", primaryAnswers},
		{false, false, "127.0.0.10", "critical primary: " + bothDown},
		{false, true, "127.0.0.11", secondaryAnswers},
		{false, false, "127.0.0.11", "critical secondary: " + bothDown},
		{true, false, "127.0.0.10", primaryAnswers},
		{true, true, "127.0.0.10", primaryAnswers},
		{false, true, "127.0.0.11", secondaryAnswers},
		{true, true, "127.0.0.10", primaryAnswers},
	}
	for _, tt := range tests {
		set(first, tt.first)
		set(second, tt.second)
		states := map[bool]string{true: "up", false: "down"}
		s.expectMembers(map[string]string{"127.0.0.10": states[tt.first], "127.0.0.11": states[tt.second]}, "www.gslb.example.com/A")
		s.expectStatus(tt.status, "www.gslb.example.com")
		if got := s.dig("www.gslb.example.com", "A"); got.String() != "NOERROR "+tt.answer {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

func set(b *target, up bool) {
	if up {
		b.up()
	} else {
		b.down()
	}
}

// expectMembers waits until the members of a group have these states.
func (s *daemon) expectMembers(want map[string]string, group string) {
	s.t.Helper()
	waitFor(s.t, fmt.Sprintf("members of %s to be %v", group, want), func() error {
		got := map[string]string{}
		for _, p := range s.status(group).Groups[0].Pools {
			for _, m := range p.Members {
				got[m.ID] = m.State
			}
		}
		for id, state := range want {
			if got[id] != state {
				return fmt.Errorf("got %v", got)
			}
		}
		return nil
	})
}

// TestSeveralMembers: only what is up of a pool answers, and the pool stands
// while one is; ids and a drained member keep their place.
func TestSeveralMembers(t *testing.T) {
	t.Parallel()
	var b [4]*target
	for i := range b {
		b[i] = webTarget(t, fmt.Sprintf("127.0.0.%d:0", 20+i))
	}
	s := serve(t, site(t, quick, fmt.Sprintf(`
www A 127.0.0.20 ; @primary   check=web target=%s id=tokyo
www A 127.0.0.21 ; @primary   check=web target=%s
www A 127.0.0.22 ; @secondary check=web target=%s
www A 127.0.0.23 ; @secondary check=web target=%s
www A 127.0.0.29 ; @primary   check=none weight=0`, b[0].address, b[1].address, b[2].address, b[3].address)))
	const name = "www.gslb.example.com"
	s.expectMembers(map[string]string{"tokyo": "up", "127.0.0.21": "up", "127.0.0.22": "up", "127.0.0.23": "up"}, name)
	s.expect("NOERROR 127.0.0.20 127.0.0.21", name, "A")
	b[0].down()
	s.expect("NOERROR 127.0.0.21", name, "A")
	b[1].down()
	s.expect("NOERROR 127.0.0.22 127.0.0.23", name, "A")
	b[3].down()
	s.expect("NOERROR 127.0.0.22", name, "A")
	b[2].down()
	s.expectMembers(map[string]string{"127.0.0.22": "down"}, name)
	if got := s.dig(name, "A").String(); got != "NOERROR 127.0.0.22" {
		t.Errorf("all down: got %s, want the last good answer", got)
	}
	b[0].up()
	s.expect("NOERROR 127.0.0.20", name, "A")
	out := run(t, s.dir, "status", name).stdout
	for _, want := range []string{
		"gslbd ", "1 group (1 degraded) in 1 zone",
		"www.gslb.example.com/A  degraded     primary    127.0.0.20 ",
		`pool "primary" answers (1 of 2 up, 1 drained)`,
		"connection refused",
		"tokyo (127.0.0.20)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("status lacks %q:\n%s", want, out)
		}
	}
}

// TestNames: what can be steered may stand anywhere in a zone.
func TestNames(t *testing.T) {
	t.Parallel()
	first, second := webTarget(t, "127.0.0.30:0"), webTarget(t, "127.0.0.31:0")
	pair := func(owner string) string {
		return fmt.Sprintf("%s A 127.0.0.30 ; @primary check=web target=%s\n%s A 127.0.0.31 ; @secondary check=web target=%s\n",
			owner, first.address, owner, second.address)
	}
	s := serve(t, site(t, quick, pair("@")+pair("ns1")+pair("*.cdn")+pair("host")+`
alias  CNAME host
chain  CNAME alias
*.web  CNAME x.cdn
there.cdn TXT "no address here"
text   TXT   "hello"
`))
	check := func(address string) {
		t.Helper()
		for _, name := range []string{"", "ns1.", "any.cdn.", "a.b.cdn.", "host."} {
			s.expect("NOERROR "+address, name+"gslb.example.com", "A")
		}
		s.expect("NOERROR "+address+" host.gslb.example.com.", "alias.gslb.example.com", "A")
		s.expect("NOERROR "+address+" alias.gslb.example.com. host.gslb.example.com.", "chain.gslb.example.com", "A")
		s.expect("NOERROR "+address+" x.cdn.gslb.example.com.", "y.web.gslb.example.com", "A")
		s.expect("NOERROR", "there.cdn.gslb.example.com", "A")
		s.expect("NOERROR", "any.cdn.gslb.example.com", "AAAA")
		s.expect(`NOERROR "hello"`, "text.gslb.example.com", "TXT")
		s.expect("NXDOMAIN", "nix.gslb.example.com", "A")
		s.expect("REFUSED", "www.example.org", "A")
	}
	check("127.0.0.30")
	first.down()
	check("127.0.0.31")
	if got := s.dig("HOST.gslb.EXAMPLE.com", "A", "+tcp").String(); got != "NOERROR 127.0.0.31" {
		t.Errorf("over TCP: got %s", got)
	}
	got := run(t, s.dir, "explain", "--live", "chain.gslb.example.com")
	for _, want := range []string{"NOERROR 127.0.0.31", "chain.gslb.example.com is an alias of alias.gslb.example.com", `pool "primary" is down`} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("explain lacks %q:\n%s%s", want, got.stdout, got.stderr)
		}
	}
}

// TestFamilies: A and AAAA of one name fail over apart.
func TestFamilies(t *testing.T) {
	t.Parallel()
	v4, v6 := webTarget(t, "127.0.0.40:0"), webTarget(t, "[::1]:0")
	spare := webTarget(t, "[::1]:0")
	s := serve(t, site(t, quick, fmt.Sprintf(`
www A    127.0.0.40    ; @primary   check=web target=%s
www A    127.0.0.41    ; @secondary check=none
www AAAA 2001:db8::40  ; @primary   check=web target=%s
www AAAA 2001:db8::41  ; @secondary check=web target=%s`, v4.address, v6.address, spare.address)))
	const name = "www.gslb.example.com"
	s.expectMembers(map[string]string{"2001:db8::40": "up", "2001:db8::41": "up"}, name+"/AAAA")
	v6.down()
	s.expect("NOERROR 2001:db8::41", name, "AAAA")
	s.expect("NOERROR 127.0.0.40", name, "A")
	v4.down()
	s.expect("NOERROR 127.0.0.41", name, "A")
	v6.up()
	s.expect("NOERROR 2001:db8::40", name, "AAAA")
	s.expect("NOERROR 127.0.0.41", name, "A")
	s.expectStatus(secondaryAnswers, name+"/A")
	s.expectStatus(primaryAnswers, name+"/AAAA")
}

// TestChecks: TCP with and without a banner, several checks of one member, and
// a status that is not listed.
func TestChecks(t *testing.T) {
	t.Parallel()
	mail := bannerTarget(t, "127.0.0.50:0", "220 ready\r\n")
	odd := bannerTarget(t, "127.0.0.51:0", "554 go away\r\n")
	s := serve(t, site(t, quick+`
  sick: { type: http, path: /sick, interval: 100ms, timeout: 500ms, fall: 2, rise: 2 }
`, fmt.Sprintf(`
mail A 127.0.0.50 ; @primary   check=smtp,port target=%[1]s
mail A 127.0.0.51 ; @secondary check=port target=%[2]s
odd  A 127.0.0.51 ; @primary   check=smtp target=%[2]s
odd  A 127.0.0.50 ; @secondary check=port target=%[1]s
sick A 127.0.0.52 ; @primary   check=sick target=%[3]s
sick A 127.0.0.53 ; @fallback`, mail.address, odd.address, webTarget(t, "127.0.0.52:0").address)))
	s.expect("NOERROR 127.0.0.50", "mail.gslb.example.com", "A")
	s.expect("NOERROR 127.0.0.50", "odd.gslb.example.com", "A")
	s.expect("NOERROR 127.0.0.53", "sick.gslb.example.com", "A")
	s.expectStatus(`critical fallback: pool "primary" is down (0 of 1 up); fallback pool "fallback" answers`, "sick.gslb.example.com")
	mail.down()
	s.expect("NOERROR 127.0.0.51", "mail.gslb.example.com", "A")
	waitFor(t, "the causes in status", func() error {
		out := run(t, s.dir, "status").stdout
		for _, want := range []string{
			"smtp: connect: connection refused", `smtp: banner does not contain "220 "`, "sick: status 503, want 2xx",
		} {
			if !strings.Contains(out, want) {
				return errors.New("lacks " + want + ":\n" + out)
			}
		}
		return nil
	})
	mail.up()
	s.expect("NOERROR 127.0.0.50", "mail.gslb.example.com", "A")
}
