package health

import (
	"context"
	"math/rand/v2"
	"sync"

	"go.uber.org/zap"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// Options are what an Engine is made with. The zero value is usable.
type Options struct {
	MaxInFlight int         // probe rounds running at once; 0 = 1000
	Log         *zap.Logger // nil = none
	// Rand gives numbers in [0, 1): the part of the interval before a probe's
	// second round. Called from one goroutine at a time; nil = random.
	Rand func() float64
	// NewProber makes the prober of a check and target; its error is a Fault,
	// and it is asked again each interval. nil = probe.New.
	NewProber func(probe.Check, probe.Target, bool) (probe.Prober, error)
	// Changed is told that Saved may give something new. It is called from the
	// Decider's goroutine and must not wait or call the Engine; nil = nobody.
	Changed func()
	// Event is told what happens, in order, once nothing more urgent waits; IDs are
	// left at 0. It is called as Changed is; nil = nobody.
	Event func(Event)
}

// Engine is a Monitor that schedules probes and a Decider that turns their
// results into answers.
type Engine struct {
	monitor *monitor
	decider *decider
	cancel  context.CancelFunc
	ctx     context.Context
	probing sync.WaitGroup // the monitor and its rounds
	decides sync.WaitGroup // the decider
}

// New makes an Engine without a model. Nothing runs before Start.
func New(o Options) *Engine {
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 1000
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.NewProber == nil {
		o.NewProber = probe.New
	}
	m := newMonitor(o)
	ctx, cancel := context.WithCancel(context.Background())
	d := newDecider(m, o.Log)
	if o.Changed != nil {
		d.changed = o.Changed
	}
	if o.Event != nil {
		d.event = o.Event
	}
	return &Engine{monitor: m, decider: d, ctx: ctx, cancel: cancel}
}

// Start runs the engine until Stop. It is called once.
func (e *Engine) Start() {
	e.probing.Go(func() { e.monitor.run(e.ctx) })
	e.decides.Go(func() { e.decider.run(e.ctx) })
}

// Stop cancels every probe and returns when all goroutines have ended. A
// stopped engine cannot be started again.
func (e *Engine) Stop() {
	e.cancel()
	e.decides.Wait()
	e.probing.Wait()
}

// Apply replaces the model. States, counters, last answers and times of members
// that stay (same zone, name, type, data and probe) survive; where only the probe
// is another, the state stays until its first result, which decides alone. Within the
// decider's loop, so that no answer changes meanwhile, every group of m is
// published to next, then swap is called; from then on changes go to next only.
// Apply returns when that is done. It needs a started engine; after Stop it
// does nothing.
func (e *Engine) Apply(m Model, next Publisher, swap func()) {
	e.inLoop(func() { e.decider.apply(m, next, swap) })
}

// Status gives a consistent picture of all groups, in the order of the model.
// Only Ready and Groups are filled in.
func (e *Engine) Status() Status {
	var s snapshot
	var ready bool
	e.inLoop(func() {
		s = e.decider.snapshot()
		ready = e.monitor.isReady()
	})
	return Status{Ready: ready, Groups: s.status()}
}

// Live gives what steer.Choose is asked with for one group: the health of its
// members and the data of the last good answer. False: no such group.
func (e *Engine) Live(key zone.Key) (health []steer.Health, previous []string, ok bool) {
	e.inLoop(func() { health, previous, ok = e.decider.live(key) })
	return health, previous, ok
}

// Ready reports whether the first round of every probe has finished, or twice
// its timeout has passed. Once true it stays true: probes that a later Apply
// adds do not take the server out of service.
func (e *Engine) Ready() (ready bool) {
	e.inLoop(func() { ready = e.monitor.isReady() }) // after the results it counts
	return ready
}

// Stats counts since New.
func (e *Engine) Stats() Stats { return e.monitor.statistics() }

// inLoop runs f in the decider's goroutine and waits for it; before Start it
// waits for that too. After Stop it returns without running f.
func (e *Engine) inLoop(f func()) {
	done := make(chan struct{})
	call := func() { defer close(done); f() }
	select {
	case e.decider.calls <- call:
		<-done
	case <-e.ctx.Done():
	}
}
