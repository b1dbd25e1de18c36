package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeep: what is kept when everything is down: the part of a pool that was
// answered last, without a record that leaves the zone; at a cold start the
// first pool.
func TestKeep(t *testing.T) {
	t.Parallel()
	a, b, c := webTarget(t, "127.0.0.100:0"), webTarget(t, "127.0.0.101:0"), webTarget(t, "127.0.0.102:0")
	line := func(owner, address, pool string, b *target) string {
		return fmt.Sprintf("%s A %s ; @%s check=web target=%s\n", owner, address, pool, b.address)
	}
	cold := line("cold", "127.0.0.103", "primary", a) + line("cold", "127.0.0.104", "secondary", a)
	records := line("www", "127.0.0.100", "primary", a) + line("www", "127.0.0.101", "primary", b) + line("www", "127.0.0.102", "secondary", c)
	dir := site(t, quick+"watch: false\n", records)
	s := serve(t, dir)
	s.expectMembers(map[string]string{"127.0.0.100": "up", "127.0.0.101": "up", "127.0.0.102": "up"}, www)
	a.down()
	s.expect("NOERROR 127.0.0.101", www, "A")
	c.down()
	s.expectMembers(map[string]string{"127.0.0.102": "down"}, www)
	b.down()
	s.expectMembers(map[string]string{"127.0.0.101": "down"}, www)
	if got := s.dig(www, "A").String(); got != "NOERROR 127.0.0.101" {
		t.Errorf("of a pool that was partly down: got %s", got)
	}
	s.expectStatus(`critical primary: pool "primary" is down (0 of 2 up); pool "secondary" is down (0 of 1 up); the last good answer is kept`, www)

	// A name that comes with its targets down has nothing to keep.
	write(t, filepath.Join(dir, "gslb.zone"), zoneText(2, strings.Replace(records, "www A 127.0.0.101", "www A 127.0.0.109", 1)+cold))
	if got := run(t, dir, "reload"); got.code != 0 {
		t.Fatalf("got %+v", got)
	}
	s.expect("NOERROR 127.0.0.103", "cold.gslb.example.com", "A")
	s.expectStatus(`critical primary: pool "primary" is down (0 of 1 up); pool "secondary" is down (0 of 1 up); `+
		`no last good answer to keep, pool "primary" answers regardless`, "cold.gslb.example.com")
	s.expect("NOERROR 127.0.0.100 127.0.0.109", www, "A")
	c.up()
	s.expect("NOERROR 127.0.0.102", www, "A")
}

// TestPolicies: the options of a policy, each with everything it takes down.
func TestPolicies(t *testing.T) {
	t.Parallel()
	b := webTarget(t, "127.0.0.110:0")
	const names = "nodata servfail all first most two"
	records := ""
	for name := range strings.FieldsSeq(names) {
		records += fmt.Sprintf("%s A 127.0.0.111 ; @primary policy=%s target=%s\n", name, name, b.address)
		records += fmt.Sprintf("%s A 127.0.0.112 ; @primary check=none\n", name)
		records += fmt.Sprintf("%s A 127.0.0.113 ; @secondary target=%s\n", name, b.address)
	}
	records = strings.NewReplacer(
		"nodata A 127.0.0.112 ; @primary check=none", "nodata A 127.0.0.112 ; @primary target="+b.address,
		"servfail A 127.0.0.112 ; @primary check=none", "servfail A 127.0.0.112 ; @primary target="+b.address,
		"all A 127.0.0.112 ; @primary check=none", "all A 127.0.0.112 ; @primary target="+b.address,
		"first A 127.0.0.112 ; @primary check=none", "first A 127.0.0.112 ; @primary target="+b.address,
		"two A 127.0.0.113 ; @secondary", "two A 127.0.0.113 ; @primary",
	).Replace(records)
	s := serve(t, site(t, quick+`
policies:
  nodata:   { check: web, all_down: nodata }
  servfail: { check: web, all_down: servfail }
  all:      { check: web, all_down: all }
  first:    { check: web, all_down: primary }
  most:     { check: web, min_healthy: 100% }
  two:      { check: web, max_answers: 2 }
`, records))
	for name := range strings.FieldsSeq(names) {
		if name == "two" {
			continue
		}
		s.expect("NOERROR 127.0.0.111 127.0.0.112", name+".gslb.example.com", "A")
	}
	if got := s.dig("two.gslb.example.com", "A"); len(got.answers) != 2 {
		t.Errorf("max_answers: 2 gives %v", got)
	}
	b.down()
	s.expect("NOERROR", "nodata.gslb.example.com", "A")
	s.expect("SERVFAIL", "servfail.gslb.example.com", "A")
	s.expect("NOERROR 127.0.0.111 127.0.0.112 127.0.0.113", "all.gslb.example.com", "A")
	s.expect("NOERROR 127.0.0.111 127.0.0.112", "first.gslb.example.com", "A")
	s.expect("NOERROR 127.0.0.112", "two.gslb.example.com", "A")
	s.expectStatus(`critical : pool "primary" is down (0 of 2 up); pool "secondary" is down (0 of 1 up); the answer is empty (NODATA)`, "nodata.gslb.example.com")
	waitFor(t, "min_healthy to be missed", func() error {
		if got := s.status("most.gslb.example.com").Groups[0].Reason; !strings.Contains(got, `pool "primary" is below min_healthy (1 of 2 up, 2 needed)`) {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
	b.up()
	for _, name := range []string{"nodata", "servfail", "all", "first", "most"} {
		s.expect("NOERROR 127.0.0.111 127.0.0.112", name+".gslb.example.com", "A")
	}
}
