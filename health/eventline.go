package health

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"gslbd/zone/steer"
)

// log writes the event as a line of the log, unless its level is off.
func (e *Event) log(log *zap.Logger) {
	var level zapcore.Level
	var text string
	var fields []zap.Field
	switch e.Kind {
	case EventMember:
		level, text, fields = e.memberLine()
	case EventPool:
		level, text, fields = zapcore.DebugLevel, "pool "+e.To, e.stateFields()
	case EventGroup:
		level, text, fields = e.groupLine()
	case EventFault:
		level, text, fields = e.faultLine()
	}
	log.Log(level, text, fields...)
}

// memberLine warns of a member that is lost. The first "up" of each is a debug
// line, since a start would bring one for every member.
func (e *Event) memberLine() (zapcore.Level, string, []zap.Field) {
	level := zapcore.InfoLevel
	switch {
	case e.To != steer.Up.String():
		level = zapcore.WarnLevel
	case e.From == steer.Unknown.String():
		level = zapcore.DebugLevel
	}
	return level, "member " + e.To, []zap.Field{
		zap.String("group", e.group()),
		zap.String("member", e.Member),
		zap.String("pool", e.Pool),
		zap.String("target", e.Target),
		zap.String("check", e.Check),
		zap.String("from", e.From),
		zap.String("to", e.To),
		zap.String("why", e.Cause),
	}
}

// stateFields are those of a change that a member's line or an answer's has told
// of already, or that every start brings.
func (e *Event) stateFields() []zap.Field {
	return []zap.Field{
		zap.String("group", e.group()),
		zap.String("pool", e.Pool),
		zap.String("from", e.From),
		zap.String("to", e.To),
		zap.String("why", e.Cause),
	}
}

// groupLine warns when no ordinary pool is usable.
func (e *Event) groupLine() (zapcore.Level, string, []zap.Field) {
	if e.NewAnswer == nil {
		return zapcore.DebugLevel, "group " + e.To, e.stateFields()
	}
	level, text := zapcore.InfoLevel, "answer changed"
	if e.Rule != string(steer.RulePool) {
		level = zapcore.WarnLevel
	}
	if len(e.NewAnswer) > 0 && sameRecords(e.OldAnswer, e.NewAnswer) {
		text = "answer kept"
	}
	return level, text, []zap.Field{
		zap.String("group", e.group()),
		zap.String("policy", e.Policy),
		zap.String("from_pool", e.OldPool),
		zap.String("to_pool", e.Pool),
		zap.Strings("old_answer", e.OldAnswer),
		zap.Strings("new_answer", e.NewAnswer),
		zap.String("rule", e.Rule),
		zap.String("reason", e.Cause),
	}
}

func (e *Event) faultLine() (zapcore.Level, string, []zap.Field) {
	fields := []zap.Field{zap.String("check", e.Check), zap.String("target", e.Target), zap.Int("members", e.Members)}
	if e.To == FaultOver {
		return zapcore.InfoLevel, "probe fault over", fields
	}
	fields = append(fields, zap.String("error", e.Cause))
	if e.stack != "" {
		fields = append(fields, zap.String("stack", e.stack))
	}
	return zapcore.ErrorLevel, "probe fault", fields
}

// group is NAME/TYPE, as in the commands.
func (e *Event) group() string { return e.Name + "/" + e.Type }
