package main_test

import (
	"context"
	"slices"
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

// vendor is the health engine on the files of an example, in virtual time.
// Every probe has its second round half an interval after its first.
type vendor struct {
	start   time.Time
	engine  *health.Engine
	cfg     *config.Config
	groups  []*zone.Group
	mu      sync.Mutex
	servers map[string]server          // by address; the others reply at once
	tries   map[string][]time.Duration // by address, since start
	history map[string][]answer        // by name and type
}

// server is how an address behaves, here at its nth try.
type server func(ctx context.Context, n int) probe.Result

// replies makes a server that passes after a while.
func replies(after time.Duration) server {
	return func(ctx context.Context, _ int) probe.Result {
		select {
		case <-time.After(after):
			return probe.Result{Outcome: probe.Pass, Latency: after}
		case <-ctx.Done():
			return probe.Result{Outcome: probe.Fail, Reason: "no reply in time"}
		}
	}
}

// silent makes a server that never replies.
func silent() server { return replies(24 * time.Hour) }

// refuses makes a server that fails at once.
func refuses() server {
	return func(context.Context, int) probe.Result {
		return probe.Result{Outcome: probe.Fail, Reason: "connect: connection refused"}
	}
}

// answer is what a name answered from a time on.
type answer struct {
	at   time.Duration
	data string
}

// startVendor runs the files of an example as they stand. It is called within
// a synctest bubble.
func startVendor(t *testing.T, example string, servers map[string]server) *vendor {
	t.Helper()
	cfg, problems := config.Load(root + "/examples/" + example + "/gslbd.yaml")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	z, problems := zone.Load(cfg.Zones[0], cfg.Vocabulary())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	v := &vendor{start: time.Now(), cfg: cfg, groups: z.Groups, servers: map[string]server{},
		tries: map[string][]time.Duration{}, history: map[string][]answer{}}
	for addr, s := range servers {
		v.servers[addr] = s
	}
	v.engine = health.New(health.Options{
		Rand: func() float64 { return 0.5 },
		NewProber: func(_ probe.Check, target probe.Target, _ bool) (probe.Prober, error) {
			return &vendorProber{v, target.Addr.String()}, nil
		},
	})
	v.engine.Start()
	t.Cleanup(v.engine.Stop)
	v.engine.Apply(health.Model{Groups: v.groups, Checks: cfg.Checks, Policies: cfg.Policies}, v, func() {})
	return v
}

type vendorProber struct {
	v    *vendor
	addr string
}

// Probe asks the server that the test put at the address.
func (p *vendorProber) Probe(ctx context.Context) probe.Result {
	p.v.mu.Lock()
	s := p.v.servers[p.addr]
	p.v.tries[p.addr] = append(p.v.tries[p.addr], time.Since(p.v.start))
	n := len(p.v.tries[p.addr])
	p.v.mu.Unlock()
	if s == nil {
		return probe.Result{Outcome: probe.Pass}
	}
	return s(ctx, n)
}

// Publish notes what a name answers.
func (v *vendor) Publish(key zone.Key, sel steer.Selection) {
	var data []string
	for _, g := range v.groups {
		for _, i := range sel.Members {
			if g.Key == key {
				data = append(data, g.Members[i].Data)
			}
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	next := answer{time.Since(v.start), strings.Join(data, " ")}
	all := v.history[key.String()]
	if len(all) == 0 || all[len(all)-1].data != next.data {
		v.history[key.String()] = append(all, next)
	}
}

// set changes how an address behaves from its next try on.
func (v *vendor) set(addr string, s server) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.servers[addr] = s
}

// wait goes to a time after the start.
func (v *vendor) wait(at time.Duration) {
	if d := at - time.Since(v.start); d > 0 {
		<-time.After(d)
	}
	synctest.Wait()
}

// last is the present answer of a name and since when it is given.
func (v *vendor) last(name string) answer {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	all := v.history[name+"/A"]
	if len(all) == 0 {
		return answer{}
	}
	return all[len(all)-1]
}

// expect goes to a time after the start and looks at the answer.
func (v *vendor) expect(t *testing.T, at time.Duration, name, want string) {
	t.Helper()
	v.wait(at)
	if got := v.last(name); got.data != want {
		t.Errorf("after %s: %s is answered %q, want %q", at, name, got.data, want)
	}
}

// triesSince gives when an address was tried, from a time after the start on.
func (v *vendor) triesSince(addr string, since time.Duration) []time.Duration {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.IndexFunc(v.tries[addr], func(at time.Duration) bool { return at >= since })
	if i < 0 {
		return nil
	}
	return slices.Clone(v.tries[addr][i:])
}

// declared changes how an address behaves and waits until that changes what the
// name answers. It gives the time from the start of the first try to the answer.
func (v *vendor) declared(t *testing.T, name, addr string, s server) time.Duration {
	t.Helper()
	before, now := v.last(name), time.Since(v.start)+1
	v.wait(now)
	v.set(addr, s)
	for at := now; at < now+3*time.Hour; at += time.Second {
		v.wait(at)
		tries := v.triesSince(addr, now)
		if after := v.last(name); after.data != before.data && len(tries) > 0 {
			return after.at - tries[0]
		}
	}
	t.Fatalf("%s: %s is answered as before", addr, name)
	return 0
}
