package main_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gslbd/cmd/internal/config"
	"gslbd/health"
	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// TestNifcloudTiming runs examples/nifcloud as it stands, in virtual time:
// rounds 5 minutes apart, three tries of 5 s, and no switch when all is down.
func TestNifcloudTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNifcloud(t)
		const primary, second, third = "192.0.2.10", "198.51.100.10", "203.0.113.10"

		// Every probe has its second round half an interval after its first.
		n.expect(t, 0, primary)
		n.set(primary, dead)
		n.expect(t, 165*time.Second-1, primary)
		n.expect(t, 165*time.Second, second+" "+third)
		if got, want := n.triesSince(primary, 150*time.Second), 3; got != want {
			t.Errorf("%d tries before %s was down, want %d", got, primary, want)
		}

		// The secondaries passed at 150 s; their next rounds begin at 450 s.
		n.set(second, dead)
		n.expect(t, 465*time.Second, third)
		n.set(third, dead) // found at 765 s
		n.expect(t, 779*time.Second, third)

		// The primary's rounds ended at 165 and 480 s; the next begins at 780 s.
		n.set(primary, alive)
		n.expect(t, 780*time.Second-1, third)
		n.expect(t, 780*time.Second, primary)
	})
}

// nifcloud is the health engine on the example's files, with servers that
// answer at once or never.
type nifcloud struct {
	start time.Time
	mu    sync.Mutex
	dead  map[string]bool
	tries map[string][]time.Duration // since start
	now   string                     // what www/A answers
}

const alive, dead = false, true

func startNifcloud(t *testing.T) *nifcloud {
	t.Helper()
	cfg, problems := config.Load(root + "/examples/nifcloud/gslbd.yaml")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	z, problems := zone.Load(cfg.Zones[0], cfg.Vocabulary())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	n := &nifcloud{start: time.Now(), dead: map[string]bool{}, tries: map[string][]time.Duration{}}
	engine := health.New(health.Options{
		Rand: func() float64 { return 0.5 },
		NewProber: func(_ probe.Check, target probe.Target, _ bool) (probe.Prober, error) {
			return &server{n, target.Addr.String()}, nil
		},
	})
	engine.Start()
	t.Cleanup(engine.Stop)
	engine.Apply(health.Model{Groups: z.Groups, Checks: cfg.Checks, Policies: cfg.Policies}, publisher{n, z.Groups}, func() {})
	return n
}

// server is one probed server of the example.
type server struct {
	n    *nifcloud
	addr string
}

func (s *server) Probe(ctx context.Context) probe.Result {
	s.n.mu.Lock()
	dead := s.n.dead[s.addr]
	s.n.tries[s.addr] = append(s.n.tries[s.addr], time.Since(s.n.start))
	s.n.mu.Unlock()
	if !dead {
		return probe.Result{Outcome: probe.Pass}
	}
	<-ctx.Done()
	return probe.Result{Outcome: probe.Fail, Reason: "no answer in time"}
}

// publisher notes what www/A answers.
type publisher struct {
	n      *nifcloud
	groups []*zone.Group
}

func (p publisher) Publish(key zone.Key, sel steer.Selection) {
	if key.String() != "www.gslb.example.com/A" {
		return
	}
	var data []string
	for _, g := range p.groups {
		for _, i := range sel.Members {
			if g.Key == key {
				data = append(data, g.Members[i].Data)
			}
		}
	}
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	p.n.now = strings.Join(data, " ")
}

func (n *nifcloud) set(addr string, state bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dead[addr] = state
}

// expect goes to a time after the start and looks at the answer.
func (n *nifcloud) expect(t *testing.T, at time.Duration, want string) {
	t.Helper()
	if wait := at - time.Since(n.start); wait > 0 {
		<-time.After(wait)
	}
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now != want {
		t.Errorf("after %s: answered %q, want %q", at, n.now, want)
	}
}

func (n *nifcloud) triesSince(addr string, since time.Duration) (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, at := range n.tries[addr] {
		if at >= since {
			count++
		}
	}
	return count
}
