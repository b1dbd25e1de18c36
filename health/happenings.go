package health

import (
	"fmt"
	"time"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// happening writes down an event. It holds what was true at the time, so that
// the words are found once nothing more urgent waits.
type happening func() Event

func (d *decider) note(h happening) { d.happenings = append(d.happenings, h) }

// tell hands on up to n events, oldest first: to the log and to who was named in
// the Options.
func (d *decider) tell(n int) {
	n = min(n, len(d.happenings))
	for i, h := range d.happenings[:n] {
		e := h()
		e.log(d.log)
		d.event(e)
		d.happenings[i] = nil
	}
	if d.happenings = d.happenings[n:]; len(d.happenings) == 0 {
		d.happenings = nil
	}
}

func (d *decider) noteChanges(members []memberChange, groups []groupChange, at time.Time) {
	for _, c := range members {
		d.noteMember(c.user, c.from, at)
	}
	for _, c := range groups {
		var answer *answerChange
		if c.answered {
			answer = &answerChange{c.before.Pool, c.group.data(c.before)}
		}
		d.noteGroup(c.group, answer, at)
	}
}

// noteMember tells of a member's change of state.
func (d *decider) noteMember(u user, from steer.State, at time.Time) {
	g, it := u.group, u.group.members[u.member].uses[u.use] // a copy: its counters go on
	to, last := g.health[u.member].State, it.source.last
	d.note(func() Event {
		e := g.event(EventMember, at)
		e.ofMember(g, u.member, from, to)
		e.Target, e.Check, e.Cause = it.source.address(), it.check, why(&it, last)
		return e
	})
}

// noteReloaded tells of a member whose state another configuration changed.
func (d *decider) noteReloaded(g *group, i int, from steer.State, at time.Time) {
	to, target := g.health[i].State, targetText(&g.zone.Members[i], &g.members[i])
	cause := "what its checks had found before the reload"
	if len(g.members[i].uses) == 0 {
		cause = "it has no check since the reload"
	}
	d.note(func() Event {
		e := g.event(EventMember, at)
		e.ofMember(g, i, from, to)
		e.Target, e.Cause = target, cause
		return e
	})
}

// event is one that concerns the group.
func (g *group) event(kind string, at time.Time) Event {
	key := g.zone.Key
	return Event{Time: at, Kind: kind, Zone: zone.Display(key.Zone), Name: zone.Display(key.Name), Type: key.TypeName()}
}

func (e *Event) ofMember(g *group, i int, from, to steer.State) {
	m := &g.zone.Members[i]
	e.Pool, e.Member, e.From, e.To = m.Pool, m.ID, from.String(), to.String()
}

// why says which rounds made a check's state.
func why(it *use, last probe.Result) string {
	m, rule := &it.machine, it.rule
	verb := "failed"
	switch last.Outcome {
	case probe.Pass:
		verb = "passed"
	case probe.Unknown:
		return "nothing is known any longer: " + last.Reason
	}
	text := fmt.Sprintf("%d rounds in a row %s", m.Consecutive(), verb)
	switch {
	case m.Consecutive() == 1 && (rule.Size == 0 || m.First()):
		text = "a round " + verb
	case rule.Size > 0:
		text = fmt.Sprintf("%d of the last %d rounds passed, %d required", m.Passed(rule.Size), rule.Size, rule.Required)
	}
	if last.Reason != "" {
		text += ": " + last.Reason
	}
	return text
}

// answerChange is how a group answered before.
type answerChange struct {
	pool string
	data []string
}

// noteGroup tells of changes in the states of a group and its pools since it
// was last asked, and of another answer, or the same for another reason; nil:
// neither.
func (d *decider) noteGroup(g *group, answer *answerChange, at time.Time) {
	before := g.standing
	g.stand()
	for i, now := range g.standing.pools {
		if from := before.pool(i, now.name); from != "" && from != now.state {
			d.notePool(g, now, from, at)
		}
	}
	if from := before.group; answer == nil && (from == "" || from == g.standing.group) {
		return
	}
	policy, sel, to := g.policy.Name, g.sel, g.standing.group
	d.note(func() Event {
		e := g.event(EventGroup, at)
		e.From, e.To, e.Pool, e.Policy = before.group, to, sel.Pool, policy
		e.Rule, e.Cause = string(sel.Rule), sel.Reason
		if answer != nil {
			e.OldPool, e.OldAnswer, e.NewAnswer = answer.pool, answer.data, g.data(sel)
		}
		return e
	})
}

func (d *decider) notePool(g *group, pool poolStanding, from string, at time.Time) {
	words := steer.PoolCount(g.zone, g.policy, g.health, pool.name)
	d.note(func() Event {
		e := g.event(EventPool, at)
		e.Pool, e.From, e.To = pool.name, from, pool.state
		e.Cause = words()
		return e
	})
}

// told is what was last said of a source's faults.
type told struct {
	reason string
	check  string // the name that was said
	at     time.Time
	open   bool // nothing has been said of its end
}

// faultSilence is how long nothing is said of a fault that was told and that
// comes again: when file descriptors are short, faults come and go.
const faultSilence = 5 * time.Minute

// lost tells whether a round found out nothing.
func lost(o probe.Outcome) bool { return o == probe.Fault || o == probe.Unknown }

// noteFault tells once when a probe meets a fault of our own or finds out
// nothing, again when the reason becomes another, and when it is over.
func (d *decider) noteFault(s *source, out outcome) {
	is, reason := lost(out.result.Outcome), out.result.Reason
	switch {
	case is && (reason != s.told.reason || !s.told.open && out.ended.Sub(s.told.at) >= faultSilence):
		s.told = told{reason, s.name(), out.ended, true}
		e := s.faultEvent(FaultBegun, reason, out.ended)
		e.stack = out.stack
		d.note(func() Event { return e })
	case !is && s.told.open:
		d.noteFaultOver(s, "", out.ended)
	}
}

// noteFaultOver tells of the end of a fault under the name that its begin had,
// whatever reloads made of the check meanwhile.
func (d *decider) noteFaultOver(s *source, cause string, at time.Time) {
	s.told.open = false
	e := s.faultEvent(FaultOver, cause, at)
	d.note(func() Event { return e })
}

func (s *source) faultEvent(to, cause string, at time.Time) Event {
	return Event{Time: at, Kind: EventFault, To: to, Cause: cause,
		Check: s.told.check, Target: s.address(), Members: len(s.users)}
}
