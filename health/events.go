package health

import (
	"fmt"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"gslbd/health/probe"
	"gslbd/zone/steer"
)

// line is a log line to be written once nothing more urgent waits.
type line struct {
	level  zapcore.Level
	event  string
	fields []zap.Field
}

// writeLines writes up to n lines, oldest first.
func (d *decider) writeLines(n int) {
	n = min(n, len(d.lines))
	for _, l := range d.lines[:n] {
		d.log.Log(l.level, l.event, l.fields...)
	}
	if d.lines = d.lines[n:]; len(d.lines) == 0 {
		d.lines = nil
	}
}

func (d *decider) note(level zapcore.Level, event string, fields ...zap.Field) {
	if d.log.Core().Enabled(level) {
		d.lines = append(d.lines, line{level, event, fields})
	}
}

func (d *decider) noteChanges(members []memberChange, answers []answerChange) {
	for _, c := range members {
		d.noteMember(c)
	}
	for _, c := range answers {
		d.noteAnswer(c.group, c.before, c.group.data(c.before))
	}
}

// noteMember logs a member's change of state. The first "up" of each member is
// a debug line, since a start would bring one for every member.
func (d *decider) noteMember(c memberChange) {
	g, i := c.user.group, c.user.member
	m, it, to := &g.zone.Members[i], &g.members[i].uses[c.user.use], g.health[i].State
	level := zapcore.InfoLevel
	switch {
	case to == steer.Down, to == steer.Unknown:
		level = zapcore.WarnLevel
	case c.from == steer.Unknown:
		level = zapcore.DebugLevel
	}
	d.note(level, "member "+to.String(),
		zap.Stringer("group", g.zone.Key),
		zap.String("member", m.ID),
		zap.String("pool", m.Pool),
		zap.String("target", it.source.address()),
		zap.String("check", it.check),
		zap.Stringer("from", c.from),
		zap.Stringer("to", to),
		zap.String("why", why(it)))
}

// why says which rounds made a check's state.
func why(it *use) string {
	m, rule := &it.machine, it.rule
	verb := "failed"
	switch it.source.last.Outcome {
	case probe.Pass:
		verb = "passed"
	case probe.Unknown:
		return "nothing is known any longer: " + it.source.last.Reason
	}
	text := fmt.Sprintf("%d rounds in a row %s", m.Consecutive(), verb)
	switch {
	case m.Consecutive() == 1:
		text = "a round " + verb
	case rule.Size > 0:
		text = fmt.Sprintf("%d of the last %d rounds passed, %d required", m.Passed(rule.Size), rule.Size, rule.Required)
	}
	if reason := it.source.last.Reason; reason != "" {
		text += ": " + reason
	}
	return text
}

// noteAnswer logs that a group answers otherwise than before, or the same for
// another reason. A warning when no ordinary pool is usable.
func (d *decider) noteAnswer(g *group, before steer.Selection, old []string) {
	level, event := zapcore.InfoLevel, "answer changed"
	if g.sel.Rule != steer.RulePool {
		level = zapcore.WarnLevel
	}
	answer := g.data(g.sel)
	if len(answer) > 0 && sameRecords(old, answer) {
		event = "answer kept"
	}
	d.note(level, event,
		zap.Stringer("group", g.zone.Key),
		zap.String("policy", g.policy.Name),
		zap.String("from_pool", before.Pool),
		zap.String("to_pool", g.sel.Pool),
		zap.Strings("old_answer", old),
		zap.Strings("new_answer", answer),
		zap.String("rule", string(g.sel.Rule)),
		zap.String("reason", g.sel.Reason))
}

// told is what the log last said of a source's faults.
type told struct {
	reason string
	at     time.Time
	open   bool // nothing has been said of its end
}

// faultSilence is how long the log says nothing of a fault that it has told and
// that comes again: when file descriptors are short, faults come and go.
const faultSilence = 5 * time.Minute

// lost tells whether a round found out nothing.
func lost(o probe.Outcome) bool { return o == probe.Fault || o == probe.Unknown }

// noteFault logs once when a probe meets a fault of our own or finds out
// nothing, again when the reason becomes another, and when it is over.
func (d *decider) noteFault(s *source, out outcome) {
	is, reason := lost(out.result.Outcome), out.result.Reason
	switch {
	case is && (reason != s.told.reason || !s.told.open && out.ended.Sub(s.told.at) >= faultSilence):
		s.told = told{reason, out.ended, true}
		fields := append(s.fields(), zap.String("error", reason))
		if out.stack != "" {
			fields = append(fields, zap.String("stack", out.stack))
		}
		d.note(zapcore.ErrorLevel, "probe fault", fields...)
	case !is && s.told.open:
		s.told.open = false
		d.note(zapcore.InfoLevel, "probe fault over", s.fields()...)
	}
}

func (s *source) fields() []zap.Field {
	return []zap.Field{
		zap.String("check", s.name()),
		zap.String("target", s.address()),
		zap.Int("members", len(s.users)),
	}
}
