package health

import (
	"context"
	"runtime"
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

	happenings []happening // to be told when nothing waits
	event      func(Event) // takes them

	restored map[string]*group // from before the start, until the first Apply
	changed  func()            // told when there is something new to save
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
	standing standing
}

// member is one record of a group; its state is in group.health.
type member struct {
	uses   []use
	combos []combo     // parts before what they are part of
	needs  []place     // of the checks that must all pass
	whole  steer.State // that they made at the last evaluation
	since  time.Time
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
	return &decider{monitor: m, log: log, calls: make(chan func()), changed: func() {}, event: func(Event) {}}
}

// maxUntold bounds what waits to be told while results come without a pause.
const maxUntold = 100_000

// run is the loop: a result, a call, or, when neither waits, something to be told.
func (d *decider) run(ctx context.Context) {
	for ctx.Err() == nil {
		if len(d.happenings) == 0 {
			select {
			case out := <-d.monitor.outcomes:
				d.observe(out)
			case call := <-d.calls:
				call()
			case <-ctx.Done():
			}
			continue
		}
		d.monitor.courtesy.GiveWay()
		if d.urgent() && len(d.happenings) <= maxUntold {
			continue
		}
		runtime.Gosched() // a busy core has results to bring before it has time for telling
		if !d.urgent() || len(d.happenings) > maxUntold {
			d.tell(8)
		}
	}
	d.tell(len(d.happenings))
}

// urgent takes a result or a call that waits; false: there is none.
func (d *decider) urgent() bool {
	select {
	case out := <-d.monitor.outcomes:
		d.observe(out)
	case call := <-d.calls:
		call()
	default:
		return false
	}
	return true
}

// memberChange and groupChange are what one result changed.
type memberChange struct {
	user user
	from steer.State
}

type groupChange struct {
	group    *group
	before   steer.Selection
	answered bool // with another answer
}

// observe takes the result of a round to all its users, group by group, and
// publishes each group in which that changed the answer. Telling of it comes last.
func (d *decider) observe(out outcome) {
	s, ok := d.sources[out.job]
	if !ok {
		return // removed while the round ran
	}
	d.noteFault(s, out)
	s.last, s.ended = out.result, out.ended
	switch s.last.Outcome {
	case probe.Fault:
		return
	case probe.Pass:
		s.latency = s.last.Latency
		s.judged = out.ended
	case probe.Fail:
		s.judged = out.ended
	}
	var members []memberChange
	var groups []groupChange
	changed := false
	for users := s.users; len(users) > 0; {
		g, decided := users[0].group, len(members)
		for len(users) > 0 && users[0].group == g {
			n := usesOfOne(users)
			c, touched, moved := g.judge(users[:n], s.last.Outcome, out.ended)
			if users = users[n:]; moved {
				members = append(members, c)
			}
			changed = changed || touched
		}
		if len(members) > decided {
			before := g.sel
			groups = append(groups, groupChange{g, before, d.decide(g, out.ended)})
		}
	}
	d.noteChanges(members, groups, out.ended)
	if changed {
		d.changed()
	}
}

// usesOfOne counts the uses at the front that are of one member.
func usesOfOne(users []user) (n int) {
	for n < len(users) && users[n].group == users[0].group && users[n].member == users[0].member {
		n++
	}
	return n
}

// judge gives an outcome to all uses that a member has of a probe, and only then
// asks what they make of it: nobody shall see a state between two of them. changed
// tells of anything that is worth saving, moved of the member's state.
func (g *group) judge(uses []user, is probe.Outcome, now time.Time) (c memberChange, changed, moved bool) {
	i := uses[0].member
	c = memberChange{uses[0], g.health[i].State}
	for _, u := range uses {
		it := &g.members[i].uses[u.use]
		if is == probe.Unknown && it.machine.Doubt() || is != probe.Unknown && it.observe(is == probe.Pass) {
			c.user, changed = u, true
		}
	}
	switch {
	case is == probe.Unknown:
		moved = g.doubt(i, now)
	case changed:
		moved = g.combine(i, now)
	}
	return c, changed || moved, moved
}

func (u *use) observe(pass bool) (changed bool) { return u.machine.Observe(u.rule, pass) }

// combine recomputes a member's state after one of its checks changed. A known
// state stays until all that is needed for another one is known; but up does not
// outlive the last check that vouched for it.
func (g *group) combine(i int, now time.Time) (changed bool) {
	lapsed := g.members[i].whole == steer.Up
	state := g.members[i].state()
	if state == steer.Unknown && !lapsed || state == g.health[i].State {
		return false
	}
	g.health[i].State = state
	g.members[i].since = now
	return true
}

// doubt takes up from a member whose checks no longer say so.
func (g *group) doubt(i int, now time.Time) (changed bool) {
	state := g.members[i].state() // also for the combinations of a member that is not up
	if g.health[i].State != steer.Up || state != steer.Unknown {
		return false
	}
	g.health[i].State = steer.Unknown
	g.members[i].since = now
	return true
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

// index finds a member by its data; -1 if there is none.
func (g *group) index(data string) int {
	return slices.IndexFunc(g.zone.Members, func(m zone.Member) bool { return m.Data == data })
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
