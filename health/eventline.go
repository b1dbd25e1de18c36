package health

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"gslbd/zone/steer"
)

// log writes the event as a line of the log, unless its level is off.
func (e *Event) log(log *zap.Logger) {
	level, text := e.line()
	if entry := log.Check(level, text); entry != nil {
		entry.Write(e.fields()...)
	}
}

// line says what the log calls the event, and how loudly. What the line of a
// member or of an answer tells already, or every start brings, is for debugging.
func (e *Event) line() (zapcore.Level, string) {
	answered := e.NewAnswer != nil
	switch {
	case e.Kind == EventFault && e.To == FaultOver:
		return zapcore.InfoLevel, "probe fault over"
	case e.Kind == EventFault:
		return zapcore.ErrorLevel, "probe fault"
	case e.Kind == EventMember && e.To != steer.Up.String():
		return zapcore.WarnLevel, "member " + e.To
	case e.Kind == EventMember && e.From != steer.Unknown.String():
		return zapcore.InfoLevel, "member " + e.To
	case e.Kind != EventGroup || !answered:
		return zapcore.DebugLevel, e.Kind + " " + e.To
	}
	level, text := zapcore.InfoLevel, "answer changed"
	if e.Rule != string(steer.RulePool) {
		level = zapcore.WarnLevel // no ordinary pool is usable
	}
	if len(e.NewAnswer) > 0 && sameRecords(e.OldAnswer, e.NewAnswer) {
		text = "answer kept"
	}
	return level, text
}

func (e *Event) fields() []zap.Field {
	switch {
	case e.Kind == EventFault:
		fields := []zap.Field{zap.String("check", e.Check), zap.String("target", e.Target), zap.Int("members", e.Members)}
		if e.To != FaultOver {
			fields = append(fields, zap.String("error", e.Cause))
		}
		if e.stack != "" {
			fields = append(fields, zap.String("stack", e.stack))
		}
		return fields
	case e.Kind == EventMember:
		return []zap.Field{
			zap.String("group", e.group()),
			zap.String("member", e.Member),
			zap.String("pool", e.Pool),
			zap.String("target", e.Target),
			zap.String("check", e.Check),
			zap.String("from", e.From),
			zap.String("to", e.To),
			zap.String("why", e.Cause),
		}
	case e.NewAnswer != nil:
		return []zap.Field{
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
	return []zap.Field{
		zap.String("group", e.group()),
		zap.String("pool", e.Pool),
		zap.String("from", e.From),
		zap.String("to", e.To),
		zap.String("why", e.Cause),
	}
}

// group is NAME/TYPE, as in the commands.
func (e *Event) group() string { return e.Name + "/" + e.Type }
