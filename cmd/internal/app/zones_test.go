package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslbd/cmd/internal/admin"
	"gslbd/cmd/internal/config"
)

// apex is what every zone of these tests begins with.
const apex = "$TTL 60\n@ SOA ns host %d 3600 600 604800 30\n@ NS ns\nns A 127.0.0.53\n"

// threeZones are a parent, its child and a stranger, with names that lead from
// one to the other.
func threeZones(t *testing.T, settings string) {
	t.Helper()
	dirWith(t, "", header)
	put(t, "gslbd.yaml", `
listen: [ "127.0.0.1:0" ]
zones:
  - { name: example.com, file: parent.zone }
  - { name: child.example.com, file: child.zone }
  - { name: stranger.example, file: stranger.zone }
`+settings)
	put(t, "parent.zone", fmt.Sprintf(apex, 1)+"www CNAME www.child\nchild NS ns.child\nns.child A 127.0.0.53\n")
	put(t, "child.zone", fmt.Sprintf(apex, 1)+"www CNAME www.stranger.example.\n")
	put(t, "stranger.zone", fmt.Sprintf(apex, 1)+strings.ReplaceAll(pairs, "www", "*"))
}

// TestChainThroughZones: an explanation follows CNAMEs through every zone.
func TestChainThroughZones(t *testing.T) {
	threeZones(t, "")
	cfg, problems := config.Load("gslbd.yaml")
	if cfg == nil {
		t.Fatal(problems)
	}
	e, err := Explain(cfg, admin.ExplainQuery{Name: "www.example.com", Down: []string{"*.stranger.example/A/tokyo"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "www.example.com is an alias of www.child.example.com; www.child.example.com is an alias of www.stranger.example; " +
		`pool "primary" is down (0 of 1 up); pool "secondary" answers`
	if e.Reason != want || e.Pool != "secondary" || fmt.Sprint(e.Answer) != "[127.0.0.2]" {
		t.Errorf("got %+v\nwant %s", e, want)
	}
}

// TestWatchOneZone: only the zone that changed is loaded again, although all
// lie in one directory and another one is broken by now.
func TestWatchOneZone(t *testing.T) {
	threeZones(t, "")
	a, logs := launchHere(t)
	before, err := a.Status("")
	if err != nil {
		t.Fatal(err)
	}
	put(t, "parent.zone", "broken")
	put(t, "child.zone", fmt.Sprintf(apex, 2)+"www CNAME other.stranger.example.\n")
	var zones []admin.ZoneStatus
	eventually(t, "the child's serial and the parent's problem", func() bool {
		s, err := a.Status("")
		if err != nil {
			return false
		}
		zones = s.Zones
		return zones[1].Serial == 2 && zones[0].Problem != ""
	})
	if zones[0].Serial != 1 || !zones[0].Loaded.Equal(before.Zones[0].Loaded) || !zones[2].Loaded.Equal(before.Zones[2].Loaded) {
		t.Errorf("others were loaded too: %+v", zones)
	}
	if got := logs.FilterMessage("zone reloaded").Len(); got != 1 {
		t.Errorf("%d zones were loaded", got)
	}
	if got := query(t, a, "www.example.com"); got != "127.0.0.1" {
		t.Errorf("through all three: got %s", got)
	}
	// A full reload is all or nothing, and blames the right zone.
	if problems := a.Reload(t.Context(), false); !problems.Failed(false) {
		t.Error("reloaded")
	}
	s, err := a.Status("")
	if err != nil || s.Zones[0].Problem == "" || s.Zones[1].Problem != "" || s.Zones[2].Problem != "" {
		t.Errorf("got %+v, %v", s.Zones, err)
	}
}

// TestEverythingAtOnce: reloads, the watcher, status and explanations run into
// one another while clients ask, and no answer is lost or wrong.
func TestEverythingAtOnce(t *testing.T) {
	a, _ := launch(t, "", serial(1, pairs))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var all sync.WaitGroup
	until := func(step func(n uint32)) {
		all.Go(func() {
			for n := uint32(2); ctx.Err() == nil; n++ {
				step(n)
			}
		})
	}
	// Only whole files: a half-written one would rightly be refused.
	until(func(n uint32) {
		put(t, "a.zone.new", serial(n, pairs))
		rename(t, "a.zone.new", "a.zone")
	})
	until(func(uint32) {
		if problems := a.Reload(context.Background(), false); problems.Failed(false) {
			t.Error(problems)
		}
	})
	until(func(uint32) {
		if s, err := a.Status("www.example.com"); err != nil || s.Groups[0].Answer[0] != "127.0.0.1" {
			t.Errorf("got %+v, %v", s, err)
		}
	})
	until(func(uint32) {
		if e, err := a.Explain(admin.ExplainQuery{Name: "www.example.com", Live: true}); err != nil || e.Pool != "primary" {
			t.Errorf("got %+v, %v", e, err)
		}
	})
	var asked, answered atomic.Int64
	for _, network := range []string{"udp", "tcp"} {
		client := &dns.Client{Net: network, Timeout: 5 * time.Second}
		until(func(uint32) {
			asked.Add(1)
			reply, _, err := client.Exchange(new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA), a.Addrs()[0].String())
			if err != nil || len(reply.Answer) != 1 || !reply.Answer[0].(*dns.A).A.Equal(net.IPv4(127, 0, 0, 1)) {
				t.Errorf("got %v, %v", reply, err)
				return
			}
			answered.Add(1)
		})
	}
	all.Wait()
	if asked.Load() != answered.Load() || asked.Load() == 0 {
		t.Errorf("%d asked, %d answered", asked.Load(), answered.Load())
	}
}

// TestStatesSurvive: what probes found stays over a full reload and over that
// of another zone, and the answer is never given back in between.
func TestStatesSurvive(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := closed.Addr().String()
	closed.Close()
	a, _ := launch(t, "checks: { web: { type: tcp, interval: 1h, timeout: 1s } }\n", serial(1,
		"www A 127.0.0.1 ; @primary check=web target="+target+"\nwww A 127.0.0.2 ; @secondary check=none\n"))
	eventually(t, "the switch", func() bool { return query(t, a, "www.example.com") == "127.0.0.2" })
	before, err := a.Status("")
	if err != nil {
		t.Fatal(err)
	}
	put(t, "a.zone", serial(2, "www A 127.0.0.1 ; @primary check=web target="+target+
		"\nwww A 127.0.0.2 ; @secondary check=none\nwww A 127.0.0.3 ; @secondary check=none\n"))
	awaitZone(t, a, 2, "")
	if problems := a.Reload(t.Context(), false); problems.Failed(false) {
		t.Fatal(problems)
	}
	after, err := a.Status("")
	if err != nil {
		t.Fatal(err)
	}
	was, is := before.Groups[0].Pools[0].Members[0], after.Groups[0].Pools[0].Members[0]
	if is.State != "down" || !is.Since.Equal(was.Since) || !is.Checks[0].LastProbe.Equal(was.Checks[0].LastProbe) {
		t.Errorf("was %+v, is %+v", was, is)
	}
	if got := after.Groups[0]; got.Pool != "secondary" || len(got.Answer) != 2 {
		t.Errorf("got %+v", got)
	}
	e, err := a.Explain(admin.ExplainQuery{Name: "www.example.com", Live: true, Up: []string{"127.0.0.1"}})
	if err != nil || e.Pool != "primary" {
		t.Errorf("what if it were up: %+v, %v", e, err)
	}
	e, err = a.Explain(admin.ExplainQuery{Name: "www.example.com", Live: true, Down: []string{"127.0.0.2"}})
	if err != nil || fmt.Sprint(e.Answer) != "[127.0.0.3]" {
		t.Errorf("what if one were down: %+v, %v", e, err)
	}
}

// TestRootZone: even "." can be served and explained.
func TestRootZone(t *testing.T) {
	dirWith(t, "", header)
	put(t, "gslbd.yaml", "listen: 127.0.0.1:0\nzones: [ { name: ., file: root.zone } ]\n")
	put(t, "root.zone", fmt.Sprintf(apex, 1)+pairs)
	a, _ := launchHere(t)
	e, err := a.Explain(admin.ExplainQuery{Name: "www", Live: true})
	if err != nil || e.Pool != "primary" || e.Name != "www" {
		t.Errorf("got %+v, %v", e, err)
	}
	s, err := a.Status("www")
	if err != nil || len(s.Zones) != 1 || s.Zones[0].Name != "." {
		t.Errorf("got %+v, %v", s, err)
	}
	e, err = a.Explain(admin.ExplainQuery{Name: ".", Type: "NS", Live: true})
	if err != nil || e.Name != "." || fmt.Sprint(e.Answer) != "[ns.]" {
		t.Errorf("got %+v, %v", e, err)
	}
}

// TestTooLarge: what no DNS message can hold is a problem of the zone.
func TestTooLarge(t *testing.T) {
	cfg := configured(t, "", header+"$GENERATE 0-4999 big TXT text-$\n")
	r := Check(cfg, nil, false)
	if len(r.Problems) != 1 || r.Problems[0].File != "a.zone" || !strings.HasPrefix(r.Problems[0].Message, "big.example.com/TXT: ") || r.Problems[0].Hint == "" {
		t.Errorf("got %+v", r.Problems)
	}
}

func TestLocated(t *testing.T) {
	for text, want := range map[string]string{
		"a.zone: too large":          "a.zone: too large",
		"a.zone:7: www/A: too large": "a.zone:7: www/A: too large",
		"c:/a.zone: odd":             "c:/a.zone: odd",
	} {
		if p := located(errors.New(text)); p.String() != want || strings.Contains(p.File, ":7") {
			t.Errorf("got %+v, want %s", p, want)
		}
	}
}
