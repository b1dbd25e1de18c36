package app

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"

	"gslbd/cmd/internal/admin"
	"gslbd/cmd/internal/config"
	"gslbd/dnsserver"
	"gslbd/dnsserver/answer"
	"gslbd/health"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// defaultQuiet is how long a zone's files must rest before the watcher reads them.
const defaultQuiet = time.Second

// undoTimeout bounds the clean-up after a failed start.
const undoTimeout = 2 * time.Second

// engineTimeout bounds how long a stop waits for probes, which are cancelled
// within a fraction of it.
const engineTimeout = time.Second

// Options are what an App needs beside its configuration.
type Options struct {
	Version string
	Log     *zap.Logger // nil = none
	// Reopen reads the configuration again for Reload; nil keeps the present one.
	Reopen func() (*config.Config, zone.Problems)
	// Apart is the command that runs LoadApart for large zones at a reload, with one
	// more argument, LoadIdle or LoadNice; empty: the server loads them itself.
	Apart []string
	// IdleLoad is the time in which a load that waits for idle cores must have had a
	// twentieth of one, again and again; else it begins anew and takes its share of
	// busy ones. 0 = 5 s.
	IdleLoad time.Duration
	// Quiet is how long changed zone files must rest before they are read; 0 = 1 s.
	Quiet time.Duration
}

// App is a gslbd. Its life is New, Start, Stop, once.
type App struct {
	opts    Options
	first   *config.Config // what New was given
	log     *zap.Logger
	started time.Time
	server  *dnsserver.Server
	engine  *health.Engine
	undo    undo
	watched chan struct{} // tells the watcher that the list of files changed
	dirty   chan struct{} // tells the keeper that there is something new to save
	state   *stateDir     // nil = nothing is kept over a restart
	events  *recorder
	loads   sync.WaitGroup // what waits for processes of loads to end
	ending  string         // what ends it; "" before, and for a Stop that nobody asked for

	// changing is held by whoever replaces the state: reloads, the watcher,
	// Stop. The holder may read cur without mu.
	changing gate
	life     context.Context // ends when Stop is called, and cuts loading short
	end      context.CancelFunc

	mu       sync.RWMutex // guards what follows
	cur      *state
	problems map[string]string // by zone name: why the file is not what is served
}

// state is what is served. It is replaced as a whole and never changed.
type state struct {
	cfg   *config.Config
	zones []*served
	table *answer.Table
}

// groups lists the groups of all zones.
func (s *state) groups() []*zone.Group {
	var all []*zone.Group
	for _, z := range s.zones {
		all = append(all, z.groups...)
	}
	return all
}

// model is what the engine probes and steers.
func (s *state) model() health.Model {
	return health.Model{Groups: s.groups(), Checks: s.cfg.Checks, Policies: s.cfg.Policies}
}

// New loads and compiles every zone. The error is the zone.Problems of all of
// them at once; warnings are logged. Nothing is bound or started yet.
func New(cfg *config.Config, opts Options) (*App, error) {
	if opts.Log == nil {
		opts.Log = zap.NewNop()
	}
	if opts.Quiet <= 0 {
		opts.Quiet = defaultQuiet
	}
	if opts.IdleLoad <= 0 {
		opts.IdleLoad = defaultIdleLoad
	}
	a := &App{
		opts:     opts,
		first:    cfg,
		log:      opts.Log,
		server:   dnsserver.New(serverOptions(cfg, opts.Log.Named("dns"))),
		changing: make(gate, 1),
		watched:  make(chan struct{}, 1),
		dirty:    make(chan struct{}, 1),
		problems: map[string]string{},
		events:   newRecorder(),
	}
	a.engine = health.New(health.Options{MaxInFlight: cfg.Health.MaxInFlight, Log: opts.Log.Named("health"), Changed: a.touched, Event: a.events.add})
	a.life, a.end = context.WithCancel(context.Background())
	cur, _, problems := loadState(a.life, cfg, nil, loadHere)
	if problems.Failed(false) {
		return nil, problems
	}
	LogProblems(a.log, problems)
	a.cur = cur
	return a, nil
}

// serverOptions is what the DNS server is made with; but for the addresses it
// stays so until a restart.
func serverOptions(cfg *config.Config, log *zap.Logger) dnsserver.Options {
	return dnsserver.Options{
		Listen:        cfg.Listen,
		Workers:       cfg.UDP.Workers,
		ReceiveBuffer: cfg.UDP.ReceiveBuffer,
		SendBuffer:    cfg.UDP.SendBuffer,
		Log:           log,
	}
}

// Addrs lists the DNS addresses being served, with real ports.
func (a *App) Addrs() []netip.AddrPort { return a.server.Addrs() }

// touched notes that there is something new to save.
func (a *App) touched() {
	select {
	case a.dirty <- struct{}{}:
	default: // that is known already
	}
}

// Start answers on the DNS addresses, then on the admin socket, and then
// probes; until the first results every member counts as it was saved, or else
// as unknown. On an error nothing is left bound or running. It is called once.
func (a *App) Start() error {
	if err := a.changing.enter(a.life); err != nil {
		return err
	}
	defer a.changing.leave() // a reload that is asked for meanwhile waits
	a.started = time.Now()
	if err := a.start(); err != nil {
		a.events.add(health.Event{Kind: health.EventStop, Cause: "the start failed: " + err.Error()})
		a.end()
		ctx, cancel := context.WithTimeout(context.Background(), undoTimeout)
		defer cancel()
		if undone := a.undo.unwind(ctx); undone != nil {
			a.log.Error("cleaning up failed", zap.Error(undone))
		}
		return err
	}
	a.logStart()
	go release(a.cur.records())
	return nil
}

// start takes the steps of Start, each with its reverse on the stack.
func (a *App) start() error {
	cfg := a.cur.cfg
	a.openState()
	a.publishFirst()
	a.publish(a.cur)
	a.limit(cfg)
	if err := a.server.Start(); err != nil {
		return zone.Problems{listenProblem(cfg, err)}
	}
	a.undo.push(a.awaitLoads)
	a.undo.push(a.server.Stop)
	a.openJournal() // before all that tells of events
	a.noteStart()
	adm := admin.New(cfg.Admin.Socket, a, a.log.Named("admin"))
	if err := adm.Start(); err != nil {
		return err
	}
	a.undo.push(adm.Stop)
	a.undo.push(a.noteStop) // after all that tells of events, before those who read them
	a.keepState()           // before the engine, so that it saves when that has stopped
	a.engine.Start()
	a.undo.push(a.stopEngine)
	a.engine.Apply(a.cur.model(), a.cur.table, func() {})
	a.startWatch()
	return nil
}

// stopEngine cancels the probes. One that is stuck in the kernel, as on a dead
// network file system, is left behind after a while, so that there is time for
// the rest of the stop.
func (a *App) stopEngine(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	stopped := make(chan struct{})
	go func() { defer close(stopped); a.engine.Stop() }()
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("probes did not end: %w", ctx.Err())
	}
}

// publishFirst gives every group the answer of a server that has probed nothing
// yet but knows what was saved, so that the first query finds one.
func (a *App) publishFirst() {
	for _, g := range a.cur.groups() {
		policy := a.cur.cfg.Policies[g.Policy]
		states, previous := a.engine.Restored(g)
		a.cur.table.Publish(g.Key, steer.Choose(g, &policy, states, previous))
	}
}

// Stop takes no more queries and requests, finishes those in hand, and ends
// every goroutine. ctx bounds the waiting. Further calls do nothing.
func (a *App) Stop(ctx context.Context) error {
	a.end()
	if a.changing.enter(ctx) == nil {
		a.changing.leave()
	}
	return a.undo.unwind(ctx)
}

func (a *App) logStart() {
	records := 0
	for _, z := range a.cur.zones {
		records += z.records
	}
	a.log.Info("started",
		zap.String("version", a.opts.Version),
		zap.Stringers("addresses", a.server.Addrs()),
		zap.String("socket", a.cur.cfg.Admin.Socket),
		zap.Int("zones", len(a.cur.zones)),
		zap.Int("records", records),
		zap.Int("groups", len(a.cur.groups())),
		zap.Int("checks", len(a.cur.cfg.Checks)))
}
