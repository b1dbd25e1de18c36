package health

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"gslbd/health/probe"
	"gslbd/health/verdict"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// decider owns every state. All its fields belong to the goroutine of run.
type decider struct {
	monitor *monitor
	log     *zap.Logger
	calls   chan func()

	groups  []*group // in the order of the model
	byKey   map[zone.Key]*group
	sources map[*job]*source
	publish Publisher
	lines   []line // log lines to be written when nothing waits
}

// group is one steered RRset.
type group struct {
	zone     *zone.Group
	policy   *steer.Policy
	members  []member
	health   []steer.Health // parallel to members
	sel      steer.Selection
	previous []string // data of the last good answer
	since    time.Time
}

// member is one record of a group; its state is in group.health.
type member struct {
	uses  []use
	since time.Time
}

// use is one check of one member.
type use struct {
	check   string // name
	rule    verdict.Rule
	source  *source // nil when the model lacks the check
	machine verdict.Machine
}

// source is a shared probe as its users see it.
type source struct {
	job      *job
	key      string
	interval time.Duration
	users    []user // those of one group stand together
	added    time.Time
	last     probe.Result  // of the last round; Outcome 0 before the first
	ended    time.Time     // end of the last round
	judged   time.Time     // end of the last round that was no fault
	latency  time.Duration // of the last passed round
	told     told          // of its faults, by the log
}

// user names the use of a source by its place.
type user struct {
	group       *group
	member, use int
}

// name is what the first user calls the check today; the job keeps the name
// that it was made with.
func (s *source) name() string {
	u := s.users[0]
	return u.group.members[u.member].uses[u.use].check
}

func newDecider(m *monitor, log *zap.Logger) *decider {
	return &decider{monitor: m, log: log, calls: make(chan func())}
}

// run is the loop: a result, a call, or, when neither waits, a log line.
func (d *decider) run(ctx context.Context) {
	always := make(chan struct{})
	close(always)
	for {
		var idle chan struct{}
		if len(d.lines) > 0 {
			idle = always
		}
		select {
		case out := <-d.monitor.outcomes:
			d.observe(out)
		case call := <-d.calls:
			call()
		case <-idle:
			d.writeLines(8)
		case <-ctx.Done():
			d.writeLines(len(d.lines))
			return
		}
	}
}

// memberChange and answerChange are what one result changed.
type memberChange struct {
	user user
	from steer.State
}

type answerChange struct {
	group  *group
	before steer.Selection
}

// observe takes the result of a round to all its users, group by group, and
// publishes each group in which that changed the answer. Logging comes last.
func (d *decider) observe(out outcome) {
	s, ok := d.sources[out.job]
	if !ok {
		return // removed while the round ran
	}
	d.noteFault(s, out)
	s.last, s.ended = out.result, out.ended
	if s.last.Outcome == probe.Fault {
		return
	}
	s.judged = out.ended
	pass := s.last.Outcome == probe.Pass
	if pass {
		s.latency = s.last.Latency
	}
	var members []memberChange
	var answers []answerChange
	decided := 0 // of members
	for i, u := range s.users {
		g := u.group
		from := g.health[u.member].State
		if g.members[u.member].uses[u.use].observe(pass) && g.combine(u.member, out.ended) {
			members = append(members, memberChange{u, from})
		}
		last := i+1 == len(s.users) || s.users[i+1].group != g
		if !last || len(members) == decided {
			continue
		}
		decided = len(members)
		before := g.sel
		if d.decide(g, out.ended) {
			answers = append(answers, answerChange{g, before})
		}
	}
	d.noteChanges(members, answers)
}

func (u *use) observe(pass bool) (changed bool) { return u.machine.Observe(u.rule, pass) }

// combine recomputes a member's state after one of its checks changed. A known
// state stays until all that is needed for another one is known.
func (g *group) combine(i int, now time.Time) (changed bool) {
	state := g.members[i].state()
	if state == steer.Unknown || state == g.health[i].State {
		return false
	}
	g.health[i].State = state
	g.members[i].since = now
	return true
}

func (m *member) state() steer.State {
	states := make([]verdict.State, 0, 4)
	for i := range m.uses {
		states = append(states, m.uses[i].machine.State())
	}
	switch verdict.Combine(states...) {
	case verdict.Up:
		return steer.Up
	case verdict.Down:
		return steer.Down
	}
	return steer.Unknown
}

// decide chooses anew for a group, and publishes what differs from before.
func (d *decider) decide(g *group, now time.Time) (changed bool) {
	before := g.sel
	g.choose()
	if same(before, g.sel) {
		return false
	}
	d.publish.Publish(g.zone.Key, g.sel)
	if !slices.Equal(before.Members, g.sel.Members) {
		g.since = now
	}
	return true
}

// choose asks steer, and remembers an answer that is worth keeping.
func (g *group) choose() {
	g.sel = steer.Choose(g.zone, g.policy, g.health, g.previous)
	if steer.Proven(g.sel, g.health) {
		g.previous = g.data(g.sel)
	}
}

// data gives the records of a selection of this group.
func (g *group) data(sel steer.Selection) []string {
	out := make([]string, 0, len(sel.Members))
	for _, i := range sel.Members {
		out = append(out, g.zone.Members[i].Data)
	}
	return out
}

// same compares all of a selection but the reason.
func same(a, b steer.Selection) bool {
	return a.Rule == b.Rule && a.Pool == b.Pool && a.MaxAnswers == b.MaxAnswers &&
		a.TTL == b.TTL && slices.Equal(a.Members, b.Members)
}

func ruleOf(c probe.Check) verdict.Rule {
	if c.Window != nil {
		return verdict.Rule{Size: c.Window.Size, Required: c.Window.Required}
	}
	return verdict.Rule{Fall: c.Fall, Rise: c.Rise}
}

func (d *decider) live(key zone.Key) (health []steer.Health, previous []string, ok bool) {
	g, ok := d.byKey[key]
	if !ok {
		return nil, nil, false
	}
	return slices.Clone(g.health), slices.Clone(g.previous), true
}
