package health

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"gslbd/health/probe"
	"gslbd/health/verdict"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// Saved is what an Engine knows that is worth keeping over a restart.
type Saved struct {
	Groups []SavedGroup `json:"groups"`
}

// SavedGroup is one group: how it answered, and its members.
type SavedGroup struct {
	Zone     string        `json:"zone"` // canonical, as Name
	Name     string        `json:"name"`
	Type     string        `json:"type"` // mnemonic, or TYPEnnn (RFC 3597 §5)
	Pool     string        `json:"pool"`
	Rule     string        `json:"rule"` // by which the answer was chosen
	Since    time.Time     `json:"since"`
	Answer   []string      `json:"answer"`   // data of the records answered last
	Previous []string      `json:"previous"` // data of the last good answer; empty for none
	Members  []SavedMember `json:"members"`
}

// SavedMember is one record of a group.
type SavedMember struct {
	Data   string       `json:"data"`
	State  string       `json:"state"` // unknown, up, down
	Since  time.Time    `json:"since"`
	Checks []SavedCheck `json:"checks"`
}

// SavedCheck is one check of a member that is probed. Counters are not kept:
// after a restart a change takes all the rounds that the rule asks for.
type SavedCheck struct {
	Name  string `json:"name"`
	Probe string `json:"probe"` // what is probed and how, as a hash
	State string `json:"state"`
}

// savedAtOnce is how many members the loop copies, in whole groups, before it
// turns to results again: about a tenth of a millisecond's work.
const savedAtOnce = 500

// Saved gives what is worth keeping now; each group is consistent in itself. It
// is nil as long as the first round of the probes is not over (see Ready), since
// states that nobody has confirmed would be made to look fresh. After Stop it
// gives the last state; nil also when Stop comes while it works.
func (e *Engine) Saved() *Saved {
	do := e.inLoop
	if e.ctx.Err() != nil {
		e.decides.Wait() // and not for rounds that nothing can cancel
		do = func(f func()) { f() }
	}
	var groups []*group
	ready := false
	do(func() { groups, ready = e.decider.groups, e.monitor.isReady() })
	if !ready {
		return nil
	}
	saved := &Saved{Groups: make([]SavedGroup, 0, len(groups))}
	for len(groups) > 0 {
		ran := false
		do(func() {
			ran = true
			groups = saved.take(groups)
		})
		if !ran {
			return nil // stopped meanwhile
		}
	}
	return saved
}

// take adds the first groups, and gives those that are left for another time.
func (s *Saved) take(groups []*group) (left []*group) {
	for members := 0; len(groups) > 0 && members < savedAtOnce; groups = groups[1:] {
		members += len(groups[0].members)
		s.Groups = append(s.Groups, saveGroup(groups[0]))
	}
	return groups
}

func saveGroup(g *group) SavedGroup {
	key := g.zone.Key
	out := SavedGroup{Zone: key.Zone, Name: key.Name, Type: key.TypeName(), Pool: g.sel.Pool, Rule: string(g.sel.Rule),
		Since: g.since, Answer: g.data(g.sel), Previous: g.previous, Members: make([]SavedMember, len(g.members))}
	for i := range g.members {
		m := &g.members[i]
		saved := SavedMember{Data: g.zone.Members[i].Data, State: g.health[i].State.String(), Since: m.since}
		for k := range m.uses {
			if u := &m.uses[k]; u.source != nil {
				saved.Checks = append(saved.Checks, SavedCheck{u.check, u.source.key, stateWord(u.machine.State())})
			}
		}
		out.Members[i] = saved
	}
	return out
}

// Restore makes the engine begin where another one ended: with its answers and
// its states, each of which needs as many rounds to change as if it had just
// been reached. It is called before Start; the first Apply uses what concerns
// its groups and forgets the rest.
func (e *Engine) Restore(s Saved) {
	e.decider.restored = make(map[string]*group, len(s.Groups))
	for i := range s.Groups {
		saved := &s.Groups[i]
		e.decider.restored[savedKey(saved.Zone, saved.Name, saved.Type)] = restoreGroup(saved)
	}
}

// Restored gives what steer.Choose is asked with for a group before the first
// Apply: the health of its members and the data of the last good answer, both
// as Restore has them. It is called before Start.
func (e *Engine) Restored(zg *zone.Group) (health []steer.Health, previous []string) {
	g := e.decider.remembered(zg.Key)
	if g == nil {
		return nil, nil
	}
	health = make([]steer.Health, len(zg.Members))
	for i := range zg.Members {
		if k := g.index(zg.Members[i].Data); k >= 0 {
			health[i] = g.health[k]
		}
	}
	return health, g.previous
}

func savedKey(zone, name, typ string) string { return zone + " " + name + " " + typ }

// remembered gives the group as it was before, in this life or the one before.
func (d *decider) remembered(key zone.Key) *group {
	if g := d.byKey[key]; g != nil {
		return g
	}
	return d.restored[savedKey(key.Zone, key.Name, key.TypeName())]
}

// restoreGroup makes a group that Apply can take states from, and nothing else.
func restoreGroup(s *SavedGroup) *group {
	g := &group{
		zone:     &zone.Group{Members: make([]zone.Member, len(s.Members))},
		members:  make([]member, len(s.Members)),
		health:   make([]steer.Health, len(s.Members)),
		sel:      steer.Selection{Pool: s.Pool, Rule: steer.Rule(s.Rule)},
		previous: s.Previous,
		since:    s.Since,
	}
	for i := range s.Members {
		saved, m := &s.Members[i], &g.members[i]
		g.zone.Members[i].Data = saved.Data
		g.health[i].State = steerState(saved.State)
		m.since = saved.Since
		for _, c := range saved.Checks {
			m.uses = append(m.uses, use{check: c.Name, source: &source{key: c.Probe}, machine: verdict.Restored(checkState(c.State))})
		}
	}
	for _, data := range s.Answer {
		if k := g.index(data); k >= 0 {
			g.sel.Members = append(g.sel.Members, k)
		}
	}
	return g
}

// keyOf tells probes apart, also in a file: the options that a probe.Key spells
// out may hold secrets.
func keyOf(c probe.Check, t probe.Target) string {
	sum := sha256.Sum256([]byte(c.Key(t)))
	return hex.EncodeToString(sum[:16])
}

func steerState(word string) steer.State {
	switch word {
	case steer.Up.String():
		return steer.Up
	case steer.Down.String():
		return steer.Down
	}
	return steer.Unknown
}

func checkState(word string) verdict.State {
	switch steerState(word) {
	case steer.Up:
		return verdict.Up
	case steer.Down:
		return verdict.Down
	}
	return verdict.Unknown
}
