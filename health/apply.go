package health

import (
	"maps"
	"slices"
	"time"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// builder makes the decider's groups for a new model out of the model and of
// what is known from the old one.
type builder struct {
	model   Model
	old     *decider
	now     time.Time
	known   map[string]*source // the old sources by probe key
	sources map[string]*source
}

// apply replaces the model; see Engine.Apply.
func (d *decider) apply(m Model, next Publisher, swap func()) {
	b := &builder{model: m, old: d, now: time.Now(),
		known:   make(map[string]*source, len(d.sources)),
		sources: make(map[string]*source, len(d.sources))}
	for _, s := range d.sources {
		b.known[s.key] = s
	}
	groups := make([]*group, 0, len(m.Groups))
	byKey := make(map[zone.Key]*group, len(m.Groups))
	for _, zg := range m.Groups {
		g := b.group(zg)
		next.Publish(zg.Key, g.sel)
		groups = append(groups, g)
		byKey[zg.Key] = g
	}
	swap()
	b.endFaults()
	d.groups, d.byKey, d.publish = groups, byKey, next
	d.sources = make(map[*job]*source, len(b.sources))
	demands := make([]demand, 0, len(b.sources))
	for _, s := range b.sources {
		d.sources[s.job] = s
		demands = append(demands, demand{s.job, s.interval})
	}
	d.restored = nil
	d.monitor.set(demands)
	d.changed()
}

// endFaults tells of the end of the faults of probes that are no more.
func (b *builder) endFaults() {
	for _, key := range slices.Sorted(maps.Keys(b.known)) {
		if s := b.known[key]; s.told.open && b.sources[key] == nil {
			b.old.noteFaultOver(s, "the reload took its probe away", b.now)
		}
	}
}

func (b *builder) group(zg *zone.Group) *group {
	policy, ok := b.model.Policies[zg.Policy]
	if !ok {
		policy = steer.Failover()
	}
	g := &group{
		zone: zg, policy: &policy, since: b.now,
		members: make([]member, len(zg.Members)),
		health:  make([]steer.Health, len(zg.Members)),
	}
	was := b.old.remembered(zg.Key)
	if was != nil {
		g.previous = was.previous
	}
	for i := range zg.Members {
		b.member(g, i, was)
	}
	g.choose()
	if was == nil {
		g.stand()
		return g
	}
	g.standing = was.standing
	b.old.noteGroup(g, b.compare(g, was), b.now)
	return g
}

// compare keeps the time of an answer that stayed, and gives the old one if the
// new one, or what it is given for, is another.
func (b *builder) compare(g, was *group) *answerChange {
	before := was.data(was.sel)
	if sameRecords(before, g.data(g.sel)) {
		g.since = was.since
		if was.sel.Rule == g.sel.Rule && was.sel.Pool == g.sel.Pool {
			return nil
		}
	}
	return &answerChange{was.sel.Pool, before}
}

// sameRecords compares answers, in which order means nothing.
func sameRecords(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// member fills in member i of g, from the old group where it was there before.
// Its state then stays until a result says otherwise, also with other probes: a
// reload must not bring back a dead member.
func (b *builder) member(g *group, i int, was *group) {
	zm, m, h := &g.zone.Members[i], &g.members[i], &g.health[i]
	m.since = b.now
	var old *member
	if was != nil {
		if k := was.index(zm.Data); k >= 0 {
			old = &was.members[k]
			*h = was.health[k]
		}
	}
	target := probe.Target{Addr: zm.Target.Addr, Port: zm.Target.Port, Name: zone.Display(g.zone.Key.Name)}
	for _, name := range probe.Parts(b.model.Checks, zm.Checks) {
		if c := b.model.Checks[name].Combination; c != nil {
			m.combos = append(m.combos, combo{check: name, need: c.Need, parts: m.places(c.Of)})
			continue
		}
		m.uses = append(m.uses, b.use(name, target, old))
		if s := m.uses[len(m.uses)-1].source; s != nil {
			s.users = append(s.users, user{g, i, len(m.uses) - 1})
		}
	}
	m.needs = m.places(zm.Checks)
	state := m.state()
	if old != nil && (state == steer.Unknown || state == h.State) {
		m.since = old.since
		return
	}
	from := h.State
	h.State = state
	if from != state && (old != nil || len(m.uses) > 0) { // without a check it is up from the first
		b.old.noteReloaded(g, i, from, b.now)
	}
}

// use attaches one check of a member to its probe. The counters stay if the
// member had that probe before; else a result that the probe already has counts
// at once.
func (b *builder) use(name string, target probe.Target, old *member) use {
	check, ok := b.model.Checks[name]
	if !ok {
		return use{check: name}
	}
	s := b.source(check, target)
	u := use{check: name, rule: ruleOf(check), source: s}
	if before := old.find(name, s.key); before != nil {
		u.machine = before.machine
	} else if s.last.Outcome == probe.Pass || s.last.Outcome == probe.Fail {
		u.observe(s.last.Outcome == probe.Pass)
	}
	return u
}

// find gives the member's use of a probe, by preference under the same name.
func (m *member) find(name, key string) (found *use) {
	if m == nil {
		return nil
	}
	for i := range m.uses {
		u := &m.uses[i]
		if u.source != nil && u.source.key == key && (found == nil || u.check == name) {
			found = u
		}
	}
	return found
}

// source gives the shared probe of a check and target, at the smallest interval
// asked for so far.
func (b *builder) source(check probe.Check, target probe.Target) *source {
	key := keyOf(check, target)
	s, ok := b.sources[key]
	switch before := b.known[key]; {
	case ok:
		s.interval = min(s.interval, check.Interval)
		return s
	case before != nil:
		s = new(source)
		*s = *before
		s.users = nil
	default:
		s = &source{key: key, added: b.now, job: &job{check: check, target: target, lane: laneOf(check), place: -1}}
	}
	s.interval = check.Interval
	b.sources[key] = s
	return s
}
