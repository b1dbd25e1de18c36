package health

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// 10,000 groups hang on one probe: they flip together, each published once, and
// nothing is published while nothing changes.
func TestManyGroupsOneProbe(t *testing.T) {
	const n = 10000
	inWorld(t, func(w *world) {
		groups := alike(n)
		table := w.apply(model(check(), groups...))
		w.wait(time.Minute)
		if s := w.engine.Stats(); s.Probes != 2 || table.count() != n {
			t.Fatalf("%+v, %d publications", s, table.count())
		}
		w.target("1", refuses)
		w.wait(time.Minute)
		if table.count() != 2*n {
			t.Fatalf("%d publications for a flip of %d groups", table.count()-n, n)
		}
		if took := table.between(n, 2*n-1); took != 0 {
			t.Errorf("the last follows the first by %v", took)
		}
		for _, g := range groups {
			if got := table.answer(g.Key); got != "2" {
				t.Fatalf("%v: %q", g.Key, got)
			}
		}
		if got := w.logs.FilterMessage("answer changed").Len(); got != n {
			t.Errorf("%d log lines", got)
		}
	})
}

// alike makes n groups with the same two targets.
func alike(n int) []*zone.Group {
	groups := make([]*zone.Group, n)
	for i := range groups {
		key := zone.Key{Zone: "example.com.", Name: fmt.Sprintf("n%d.example.com.", i), Type: dns.TypeA}
		groups[i] = makeGroup(key, "primary:1", "secondary:2")
	}
	return groups
}

type nowhere struct{}

func (nowhere) Publish(zone.Key, steer.Selection) {}

// BenchmarkFlip measures one result that flips 10,000 groups, all decided and
// handed to a publisher that does nothing with them; events are noted, not
// told.
func BenchmarkFlip(b *testing.B) {
	d := newDecider(newMonitor(Options{}), zap.New(zapcore.NewCore(
		zapcore.NewJSONEncoder(zapcore.EncoderConfig{}), zapcore.AddSync(io.Discard), zap.InfoLevel)))
	m := model(check(thresholds(1, 1)), alike(10000)...)
	d.apply(m, nowhere{}, func() {})
	var primary *job
	for j, s := range d.sources {
		d.observe(outcome{job: j, result: probe.Result{Outcome: probe.Pass}})
		if s.users[0].member == 0 {
			primary = j
		}
	}
	for i := 0; b.Loop(); i++ {
		d.happenings = nil
		d.observe(outcome{job: primary, result: probe.Result{Outcome: probe.Fail - probe.Outcome(i%2)}})
	}
}

// BenchmarkSnapshot measures how long the loop is held up by a status of 10,000
// groups.
func BenchmarkSnapshot(b *testing.B) {
	d := newDecider(newMonitor(Options{}), zap.NewNop())
	d.apply(model(check(), alike(10000)...), nowhere{}, func() {})
	for b.Loop() {
		d.snapshot()
	}
}

// 5,000 different probes keep their rhythm within the in-flight limit.
func TestManyProbes(t *testing.T) {
	const n = 5000
	inWorld(t, func(w *world) {
		w.apply(manyTargets(check(), n))
		w.wait(36 * time.Second) // rounds at 0, 5, 15, 25, 35 s
		if s := w.engine.Stats(); s.Passed != 5*n || s.Probes != n || s.InFlight != 0 {
			t.Errorf("%+v", s)
		}
		if peak := w.peakNow(); peak > 1000 {
			t.Errorf("%d at once", peak)
		}
	})
}

// between is the time from publication i to publication k.
func (t *table) between(i, k int) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at[k].Sub(t.at[i])
}
