package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gslbd/health"
	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// lateAfter is how long after its time a probe may start.
const lateAfter = 100 * time.Millisecond

// load is one measurement of the health engine.
type load struct {
	kind     string // "tcp" or "http"
	targets  int
	interval time.Duration
	length   time.Duration // after the first two rounds
	flip     bool          // then end all targets at once
}

// timed is a prober that notes when its rounds start and end.
type timed struct {
	probe.Prober
	interval time.Duration
	measure  *atomic.Bool
	running  atomic.Bool

	mu                     sync.Mutex
	ended                  time.Time
	rounds, counted, fails int
	overlaps, late         int
}

func (p *timed) Probe(ctx context.Context) probe.Result {
	start := time.Now()
	overlap := p.running.Swap(true)
	r := p.Prober.Probe(ctx)
	p.running.Store(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	if overlap {
		p.overlaps++
	}
	if p.rounds >= 2 && p.measure.Load() {
		p.counted++
		if start.Sub(p.ended) > p.interval+lateAfter {
			p.late++
		}
		if r.Outcome != probe.Pass {
			p.fails++
		}
	}
	p.rounds++
	p.ended = time.Now()
	return r
}

// rig is an engine with its probers and what it published.
type rig struct {
	load    load
	probers []*timed
	mu      sync.Mutex
	flipped []time.Duration // from the end of the deciding round to the answer
	flip    atomic.Bool
	measure atomic.Bool
}

// Publish times the answers that change while everything fails.
func (r *rig) Publish(key zone.Key, sel steer.Selection) {
	if !r.flip.Load() || sel.Pool != "secondary" {
		return
	}
	var i int
	if _, err := fmt.Sscanf(key.Name, "m%d.", &i); err != nil {
		return
	}
	p := r.probers[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flipped = append(r.flipped, time.Since(p.ended))
}

func (r *rig) prober(c probe.Check, t probe.Target, trace bool) (probe.Prober, error) {
	p, err := probe.New(c, t, trace)
	if err != nil {
		return nil, err
	}
	a := t.Addr.As4()
	one := r.probers[int(a[1]-1)<<16|int(a[2])<<8|int(a[3])]
	one.Prober = p
	return one, nil
}

// model has a group for each target: it, and a secondary that is always up.
func (r *rig) model(port uint16) health.Model {
	check := probe.Check{Name: "c", Type: r.load.kind, Interval: r.load.interval, Timeout: 5 * time.Second, Fall: 2, Rise: 3}
	if r.load.kind == "tcp" {
		check.TCP = &probe.TCP{Port: port}
	} else {
		check.HTTP = &probe.HTTP{Scheme: "http", Port: port, Method: "HEAD", Path: "/", Status: []probe.StatusRange{{Low: 200, High: 299}}, Version: "1.1", UserAgent: "bench"}
	}
	m := health.Model{Checks: map[string]probe.Check{"c": check}, Policies: map[string]steer.Policy{"failover": steer.Failover()}}
	for i := range r.load.targets {
		addr := netip.AddrFrom4([4]byte{127, byte(i>>16) + 1, byte(i >> 8), byte(i)})
		r.probers = append(r.probers, &timed{interval: r.load.interval, measure: &r.measure})
		m.Groups = append(m.Groups, &zone.Group{
			Key: zone.Key{Zone: "test.", Name: fmt.Sprintf("m%d.test.", i), Type: 1}, Policy: "failover", TTL: 60,
			Members: []zone.Member{
				{ID: "a", Data: "192.0.2.1", Pool: "primary", Weight: 1, Checks: []string{"c"}, Target: zone.Target{Addr: addr}},
				{ID: "b", Data: "192.0.2.2", Pool: "secondary", Weight: 1},
			}})
	}
	return m
}

// probes measures one load against the targets on port, and prints one line.
// stop ends the targets.
func probes(l load, port uint16, stop func()) error {
	r := &rig{load: l}
	model := r.model(port)
	engine := health.New(health.Options{NewProber: r.prober})
	engine.Start()
	defer engine.Stop()
	engine.Apply(model, r, func() {})
	time.Sleep(2*l.interval + time.Second) // the first rounds all at once, the second spread
	began, spent := time.Now(), cpu()
	r.measure.Store(true)
	goroutines := 0
	for end := began.Add(l.length); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		goroutines = max(goroutines, runtime.NumGoroutine())
	}
	r.measure.Store(false)
	took, used := time.Since(began), cpu()-spent
	memory, err := peak(os.Getpid())
	if err != nil {
		return err
	}
	rounds, late, overlaps, fails, fewest := r.sums()
	fmt.Printf("%-4s %6d targets every %3v: %6.0f rounds/s, %.3f %% late, %d overlapping, %d failed, fewest rounds of one %d of %.0f, CPU %.1f µs a round (%.0f %% of a core), peak %.0f MiB, %d goroutines\n",
		l.kind, l.targets, l.interval, float64(rounds)/took.Seconds(), 100*float64(late)/float64(max(rounds, 1)), overlaps, fails,
		fewest, took.Seconds()/l.interval.Seconds(), float64(used.Microseconds())/float64(max(rounds, 1)), 100*used.Seconds()/took.Seconds(), memory, goroutines)
	if l.flip {
		r.flip.Store(true)
		stop()
		time.Sleep(3*l.interval + 2*time.Second)
		r.report()
	}
	return nil
}

func (r *rig) sums() (rounds, late, overlaps, fails, fewest int) {
	fewest = 1 << 30
	for _, p := range r.probers {
		p.mu.Lock()
		rounds, late, overlaps, fails, fewest = rounds+p.counted, late+p.late, overlaps+p.overlaps, fails+p.fails, min(fewest, p.counted)
		p.mu.Unlock()
	}
	return rounds, late, overlaps, fails, fewest
}

// report prints how long the flips took.
func (r *rig) report() {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.flipped
	if len(all) == 0 {
		fmt.Println("     no group flipped")
		return
	}
	slices.Sort(all)
	fmt.Printf("     %d of %d groups flipped; from the end of the deciding round to the answer: median %v, p99 %v, longest %v\n",
		len(all), r.load.targets, all[len(all)/2].Round(time.Microsecond), all[len(all)*99/100].Round(time.Microsecond), all[len(all)-1].Round(time.Microsecond))
}

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail with these arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
