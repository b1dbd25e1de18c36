package health

import (
	"slices"
	"time"

	"gslbd/health/probe"
	"gslbd/health/verdict"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// snapshot is a copy of all that Status shows. It is taken within the loop,
// where it only copies; the document is made of it outside, so that asking for
// the status of many groups holds up no change of an answer.
type snapshot struct {
	taken  time.Time
	groups []group
	seen   map[*source]sight
}

// sight is a source at the time of the snapshot.
type sight struct {
	source
	due time.Time
}

func (d *decider) snapshot() snapshot {
	s := snapshot{
		taken:  time.Now(),
		groups: make([]group, len(d.groups)),
		seen:   make(map[*source]sight, len(d.sources)),
	}
	members, uses := 0, 0
	for i, g := range d.groups {
		s.groups[i] = *g
		members += len(g.members)
		for k := range g.members {
			uses += len(g.members[k].uses)
		}
	}
	allMembers := make([]member, 0, members)
	allHealth := make([]steer.Health, 0, members)
	allUses := make([]use, 0, uses)
	for i := range s.groups {
		g := &s.groups[i]
		from := len(allMembers)
		allHealth = append(allHealth, g.health...)
		for _, m := range g.members {
			start := len(allUses)
			allUses = append(allUses, m.uses...)
			m.uses = allUses[start:]
			m.combos = slices.Clone(m.combos)
			allMembers = append(allMembers, m)
		}
		g.members, g.health = allMembers[from:], allHealth[from:]
	}
	jobs := make([]*job, 0, len(d.sources))
	for j := range d.sources {
		jobs = append(jobs, j)
	}
	for i, due := range d.monitor.due(jobs) {
		src := d.sources[jobs[i]]
		s.seen[src] = sight{*src, due}
	}
	return s
}

// status writes the snapshot as the document's groups.
func (s *snapshot) status() []GroupStatus {
	out := make([]GroupStatus, 0, len(s.groups))
	for i := range s.groups {
		out = append(out, s.group(&s.groups[i]))
	}
	return out
}

func (s *snapshot) group(g *group) GroupStatus {
	out := GroupStatus{
		Name:   zone.Display(g.zone.Key.Name),
		Type:   g.zone.Key.TypeName(),
		Policy: g.policy.Name,
		State:  steer.GroupState(g.zone, g.policy, g.health, g.sel),
		Pool:   g.sel.Pool,
		Since:  g.since,
		Reason: g.sel.Reason,
		Answer: g.data(g.sel),
		TTL:    g.sel.TTL,
		Pools:  []PoolStatus{},
	}
	for _, pool := range steer.Pools(g.zone, g.policy) {
		p := PoolStatus{Name: pool, State: steer.PoolState(g.zone, g.policy, g.health, pool)}
		for i := range g.members {
			if g.zone.Members[i].Pool == pool {
				p.Members = append(p.Members, s.member(g, i))
			}
		}
		out.Pools = append(out.Pools, p)
	}
	return out
}

func (s *snapshot) member(g *group, i int) MemberStatus {
	zm, m, h := &g.zone.Members[i], &g.members[i], g.health[i]
	out := MemberStatus{
		ID:     zm.ID,
		Data:   zm.Data,
		Target: targetText(zm, m),
		Weight: zm.Weight,
		State:  h.State.String(),
		Usable: steer.Usable(g.policy, h, zm.Weight, zm.Pool),
		Since:  m.since,
		Checks: []CheckStatus{},
	}
	s.checks(&out, m, m.needs)
	return out
}

// problem says what is wrong with the last round, and that the state shown is
// old when no round has given a result for twice the time that one takes.
func (s *source) problem(now time.Time) string {
	text := s.last.Reason
	switch s.last.Outcome {
	case probe.Fault:
		text = "fault: " + text
	case probe.Unknown:
		text = "unknown: " + text
	}
	since := s.judged
	if since.IsZero() {
		since = s.added
	}
	round := time.Duration(s.job.check.Retries+1) * s.job.check.Timeout
	if now.Sub(since) <= 2*(s.interval+round) {
		return text
	}
	stale := "no result since " + since.UTC().Format(time.RFC3339)
	if text == "" {
		return stale
	}
	return stale + "; " + text
}

// address is what the source's probe aims at.
func (s *source) address() string { return s.job.check.Address(s.job.target) }

// targetText is what the member's probes aim at: the first check's address and
// port, or the bare address without a check.
func targetText(zm *zone.Member, m *member) string {
	for i := range m.uses {
		if s := m.uses[i].source; s != nil {
			return s.address()
		}
	}
	if zm.Target.Addr.IsValid() {
		return zm.Target.Addr.String()
	}
	return ""
}

func stateWord(s verdict.State) string {
	switch s {
	case verdict.Up:
		return steer.Up.String()
	case verdict.Down:
		return steer.Down.String()
	}
	return steer.Unknown.String()
}
