package health

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// world is an engine in virtual time whose probes meet targets that act as the
// test says.
type world struct {
	*testing.T
	engine *Engine
	table  *table
	logs   *observer.ObservedLogs

	mu     sync.Mutex
	acts   map[string]act    // by "ip:port"; none = pass at once
	spans  map[string][]span // one for each try
	flying int               // tries running
	peak   int               // the most at once
	broken error             // what making a prober returns
	made   int               // probers made
}

// act is what a target does with one try.
type act func(ctx context.Context) probe.Result

type span struct{ start, end time.Time }

// passes replies after r.
func passes(r time.Duration) act {
	return func(ctx context.Context) probe.Result {
		select {
		case <-ctx.Done():
			return probe.Result{Outcome: probe.Fail, Reason: "no reply in time"}
		case <-time.After(r):
			return probe.Result{Outcome: probe.Pass, Latency: r}
		}
	}
}

// hangs replies never.
func hangs(ctx context.Context) probe.Result {
	<-ctx.Done()
	return probe.Result{Outcome: probe.Fail, Reason: "no reply in time"}
}

func refuses(context.Context) probe.Result {
	return probe.Result{Outcome: probe.Fail, Reason: "connection refused"}
}

func lacksPermission(context.Context) probe.Result {
	return probe.Result{Outcome: probe.Fault, Reason: "no permission"}
}

// inWorld runs test in virtual time with a started engine, and fails if a
// goroutine outlives the engine's Stop.
func inWorld(t *testing.T, test func(w *world)) {
	inWorldWith(t, Options{}, test)
}

func inWorldWith(t *testing.T, o Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		core, logs := observer.New(zap.DebugLevel)
		w := &world{T: t, logs: logs, acts: map[string]act{}, spans: map[string][]span{}}
		o.Log, o.NewProber = zap.New(core), w.newProber
		if o.Rand == nil {
			o.Rand = func() float64 { return 0.5 }
		}
		w.engine = New(o)
		w.engine.Start()
		defer w.engine.Stop()
		test(w)
	})
}

type fakeProber struct {
	w       *world
	address string
}

func (w *world) newProber(c probe.Check, t probe.Target, _ bool) (probe.Prober, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	return &fakeProber{w, c.Address(t)}, w.broken
}

func (p *fakeProber) Probe(ctx context.Context) probe.Result {
	w := p.w
	w.mu.Lock()
	do, start := w.acts[p.address], time.Now()
	w.flying++
	w.peak = max(w.peak, w.flying)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.flying--
		w.spans[p.address] = append(w.spans[p.address], span{start, time.Now()})
	}()
	if do == nil {
		return probe.Result{Outcome: probe.Pass, Latency: time.Millisecond}
	}
	return do(ctx)
}

// target makes what answers at 192.0.2.N, port 80, act.
func (w *world) target(n string, do act) { w.at(address(n), do) }

func (w *world) at(addrPort string, do act) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acts[addrPort] = do
}

func (w *world) peakNow() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peak
}

func (w *world) tries(n string) []span {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spans[address(n)]
}

func address(n string) string { return "192.0.2." + n + ":80" }

// wait lets virtual time pass and everything due by then happen.
func (w *world) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// apply gives the engine a model and a fresh table.
func (w *world) apply(m Model) *table {
	next := newTable(m)
	w.engine.Apply(m, next, func() { w.table = next })
	return next
}

// answer is what www/A last got, e.g. "1 2" for 192.0.2.1 and 192.0.2.2.
func (w *world) answer() string { return w.table.answer(wwwA) }

func (w *world) expect(want string) {
	w.Helper()
	synctest.Wait()
	if got := w.answer(); got != want {
		w.Fatalf("%s: answered %q, want %q", time.Now().Format("15:04:05.000"), got, want)
	}
}

var wwwA = zone.Key{Zone: "example.com.", Name: "www.example.com.", Type: dns.TypeA}

// table records what is published.
type table struct {
	groups map[zone.Key]*zone.Group
	mu     sync.Mutex
	last   map[zone.Key]steer.Selection
	at     []time.Time // of each publication
}

func newTable(m Model) *table {
	t := &table{groups: map[zone.Key]*zone.Group{}, last: map[zone.Key]steer.Selection{}}
	for _, g := range m.Groups {
		t.groups[g.Key] = g
	}
	return t
}

func (t *table) Publish(key zone.Key, sel steer.Selection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last[key] = sel
	t.at = append(t.at, time.Now())
}

func (t *table) selection(key zone.Key) (sel steer.Selection, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sel, ok = t.last[key]
	return sel, ok
}

// rule is by which rule www/A is answered.
func (w *world) rule() steer.Rule {
	sel, _ := w.table.selection(wwwA)
	return sel.Rule
}

func (t *table) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.at)
}

func (t *table) answer(key zone.Key) string {
	sel, ok := t.selection(key)
	if !ok {
		return "unpublished"
	}
	if len(sel.Members) == 0 {
		return string(sel.Rule)
	}
	var out []string
	for _, i := range sel.Members {
		out = append(out, strings.TrimPrefix(t.groups[key].Members[i].Data, "192.0.2."))
	}
	return strings.Join(out, " ")
}

// www makes the group www/A of words "pool:N" or "pool:N:check+check", each a
// member 192.0.2.N; the check is "web" by default.
func www(words ...string) *zone.Group { return makeGroup(wwwA, words...) }

func makeGroup(key zone.Key, words ...string) *zone.Group {
	g := &zone.Group{Key: key, Policy: "failover", TTL: 60}
	for _, word := range words {
		part := strings.Split(word, ":")
		data := "192.0.2." + part[1]
		m := zone.Member{ID: data, Data: data, Pool: part[0], Weight: 1, Checks: []string{"web"},
			Target: zone.Target{Addr: netip.MustParseAddr(data)}}
		if len(part) > 2 {
			m.Checks = strings.FieldsFunc(part[2], func(c rune) bool { return c == '+' })
		}
		g.Members = append(g.Members, m)
	}
	return g
}

// check is a TCP check of port 80 every 10 s with 5 s for a try, fall 2, rise 3.
func check(change ...func(*probe.Check)) probe.Check {
	c := probe.Check{Name: "web", Type: "tcp", Interval: 10 * time.Second, Timeout: 5 * time.Second,
		Fall: 2, Rise: 3, TCP: &probe.TCP{Port: 80}}
	for _, f := range change {
		f(&c)
	}
	return c
}

func thresholds(fall, rise int) func(*probe.Check) {
	return func(c *probe.Check) { c.Fall, c.Rise = fall, rise }
}

func every(d time.Duration) func(*probe.Check)  { return func(c *probe.Check) { c.Interval = d } }
func within(d time.Duration) func(*probe.Check) { return func(c *probe.Check) { c.Timeout = d } }
func named(name string) func(*probe.Check)      { return func(c *probe.Check) { c.Name = name } }

// model steers the groups by the built-in policy; the check is "web".
func model(c probe.Check, groups ...*zone.Group) Model {
	return Model{Groups: groups, Checks: map[string]probe.Check{c.Name: c},
		Policies: map[string]steer.Policy{"failover": steer.Failover()}}
}
