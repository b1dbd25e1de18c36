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
	reported bool          // the decider has taken a result
	part     float64       // of the interval, between ended and due
	late     time.Duration // that rounds began, and was not made up for yet
	due      time.Time
	place    int             // in the queue; -1 = not queued
	ctx      context.Context // of the running round, else nil
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
	courtesy Courtesy // of rounds, and of the decider

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
// until the next is due. A new plan or an earlier job wakes the scheduler, and
// so does a round that ends at the limit.
func (m *monitor) startDue(ctx context.Context) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for {
		next, wait := m.take(ctx, now)
		if next == nil {
			return wait
		}
		m.rounds.Go(func() { m.work(ctx, next) })
	}
}

// take gives the job whose turn it is, or nil and the time until there may be
// one. The caller holds m.mu.
func (m *monitor) take(ctx context.Context, now time.Time) (next *job, wait time.Duration) {
	for m.inFlight < m.opts.MaxInFlight && len(m.queue) > 0 && ctx.Err() == nil {
		first := m.queue[0]
		if wait := first.due.Sub(now); wait > 0 {
			return nil, wait
		}
		next := first.job
		heap.Pop(&m.queue)
		if !m.enter(next) {
			continue
		}
		m.inFlight++
		if next.renew {
			next.prober, next.renew = nil, false
		}
		next.ctx, next.cancel = context.WithCancel(ctx)
		return next, 0
	}
	return nil, time.Hour
}

// work runs a job's round, and goes on with what is due by then: the busier the
// monitor is, the fewer goroutines are made and woken for a round.
func (m *monitor) work(ctx context.Context, j *job) {
	for j != nil {
		m.round(j)
		m.courtesy.GiveWay()
		j = m.finish(ctx, j)
	}
}

// round runs one round. The decider gets the result first; only then is the
// job queued again, so results of one job keep their order.
func (m *monitor) round(j *job) {
	began := time.Now()
	out := m.try(j.ctx, j)
	out.ended = time.Now()
	m.plan(j, out, began)
	if j.ctx.Err() == nil { // cancelled rounds have no result
		select {
		case m.outcomes <- out:
		case <-j.ctx.Done():
		}
	}
}

// finish queues the job again and gives the next that is due, if any.
func (m *monitor) finish(ctx context.Context, j *job) (next *job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j.reported = true
	j.cancel()
	j.ctx, j.cancel = nil, nil // a hundred thousand waiting jobs need no context
	full := m.inFlight == m.opts.MaxInFlight
	m.inFlight--
	m.leave(j)
	if !j.removed {
		m.enqueue(j)
	}
	next, _ = m.take(ctx, time.Now())
	if next == nil && full {
		m.poke() // it knows no time to wake by itself
	}
	return next
}

// enqueue queues a job, and wakes the scheduler where it sleeps for another.
// The caller holds m.mu.
func (m *monitor) enqueue(j *job) {
	heap.Push(&m.queue, turn{j.due, j})
	if j.place == 0 {
		m.poke()
	}
}

// plan fixes when the job is due again: a random part of the interval after its
// first round, so that load spreads, and then always the whole interval.
func (m *monitor) plan(j *job, out outcome, began time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j.part = 1
	if j.rounds == 0 {
		j.part = m.opts.Rand()
	} else {
		j.late = max(0, j.late-j.makesUp()+began.Sub(j.due)) % j.interval // whole ones are gone
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
	j.due = j.ended.Add(time.Duration(j.part*float64(j.interval)) - j.makesUp())
}

// makesUp is how much earlier a round is due since others began late: all those for
// which a busy core had no time at once would else begin together from then on, and
// in the end all there are. It is little, lest a core that is busy gets busier by it.
func (j *job) makesUp() time.Duration { return min(j.late, j.interval/100) }
