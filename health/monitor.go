package health

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"gslbd/health/probe"
)

// Stats are numbers on the probes.
type Stats struct {
	Probes   int    // probes scheduled, shared ones counted once
	InFlight int    // rounds running
	Passed   uint64 // rounds that passed
	Failed   uint64 // rounds that failed
	Faults   uint64 // rounds lost to a fault of our own
}

// job is one probe, shared by all who use the same definition and target.
type job struct {
	check  probe.Check
	target probe.Target
	lane   string       // whose limit on rounds at the same time it obeys; "" = none
	prober probe.Prober // used by the running round, else guarded; nil = to be made

	// The rest is guarded by monitor.mu.
	interval time.Duration // the smallest among the users
	added    time.Time
	ended    time.Time // end of the last round
	rounds   int
	reported bool    // the decider has taken a result
	part     float64 // of the interval, between ended and due
	due      time.Time
	place    int // in the queue; -1 = not queued
	cancel   context.CancelFunc
	removed  bool
	renew    bool // make the prober anew, from files that may have changed
}

// outcome is one finished round on its way to the decider.
type outcome struct {
	job    *job
	result probe.Result
	ended  time.Time
	stack  string // of a panic
}

// monitor runs each job's rounds: one goroutine schedules, one more per round
// in flight. A job is either queued, waiting in a lane or running, so its rounds
// never overlap.
type monitor struct {
	opts     Options
	outcomes chan outcome
	wake     chan struct{}
	rounds   sync.WaitGroup

	mu       sync.Mutex
	jobs     map[*job]struct{}
	queue    queue
	lanes    map[string]*lane
	inFlight int
	applied  bool
	ready    bool
	stats    Stats
}

func newMonitor(o Options) *monitor {
	return &monitor{
		opts:     o,
		outcomes: make(chan outcome),
		wake:     make(chan struct{}, 1),
		jobs:     make(map[*job]struct{}),
		lanes:    make(map[string]*lane),
	}
}

// run schedules until the context ends, then waits for the rounds in flight.
func (m *monitor) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer m.rounds.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-m.wake:
		}
		timer.Reset(m.startDue(ctx))
	}
}

// startDue starts what is due, as far as the limit allows, and gives the time
// until the next is due. A round that ends or a new plan wakes the scheduler.
func (m *monitor) startDue(ctx context.Context) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for m.inFlight < m.opts.MaxInFlight && len(m.queue) > 0 {
		next := m.queue[0]
		if wait := next.due.Sub(now); wait > 0 {
			return wait
		}
		heap.Pop(&m.queue)
		if !m.enter(next) {
			continue
		}
		m.inFlight++
		if next.renew {
			next.prober, next.renew = nil, false
		}
		var round context.Context
		round, next.cancel = context.WithCancel(ctx)
		m.rounds.Go(func() { m.round(round, next) })
	}
	return time.Hour
}

// round runs one round. The decider gets the result first; only then is the
// job queued again, so results of one job keep their order.
func (m *monitor) round(ctx context.Context, j *job) {
	out := m.try(ctx, j)
	out.ended = time.Now()
	m.plan(j, out)
	if ctx.Err() == nil { // cancelled rounds have no result
		select {
		case m.outcomes <- out:
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	j.reported = true
	j.cancel()
	j.cancel = nil
	m.inFlight--
	m.leave(j)
	if !j.removed {
		heap.Push(&m.queue, j)
	}
	m.poke()
}

// plan fixes when the job is due again: a random part of the interval after its
// first round, so that load spreads, and then always the whole interval.
func (m *monitor) plan(j *job, out outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j.part = 1
	if j.rounds == 0 {
		j.part = m.opts.Rand()
	}
	j.rounds++
	j.ended = out.ended
	j.reckon()
	if j.removed {
		return
	}
	switch out.result.Outcome {
	case probe.Pass:
		m.stats.Passed++
	case probe.Fail:
		m.stats.Failed++
	default:
		m.stats.Faults++
	}
}

func (j *job) reckon() {
	j.due = j.ended.Add(time.Duration(j.part * float64(j.interval)))
}
