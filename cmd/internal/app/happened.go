package app

import (
	"context"

	"go.uber.org/zap"

	"gslbd/health"
	"gslbd/zone"
)

// Events gives the events after an ID, oldest first, of those that are still
// remembered, and a channel that is closed once there are newer ones. 0, or an ID
// that was not given out yet, gives all.
func (a *App) Events(after uint64) (events []health.Event, more <-chan struct{}) {
	return a.events.after(after)
}

// openJournal goes on with the events of the server before this one, and writes
// all that happens from now on. Whatever is wrong with the file is a line in the
// log.
func (a *App) openJournal() {
	if a.state == nil {
		return
	}
	j := &journal{dir: a.state.path, limit: maxJournal, log: a.log}
	before, damaged, err := j.tail()
	switch {
	case err != nil:
		a.log.Warn("events of before are not known", zap.Error(err))
	case damaged > 0:
		a.log.Warn("lines that are no events", zap.String("file", j.path()), zap.Int("lines", damaged))
	}
	a.events.resume(before)
	a.undo.start(func(ctx context.Context) { j.run(ctx, a.events) }, "the events could not be written in time")
}

// noteStart tells of the start, and whether the run before came to its end.
func (a *App) noteStart() {
	e := health.Event{Kind: health.EventStart, Cause: "version " + a.opts.Version}
	if before, ok := a.events.newest(); ok && before.Kind != health.EventStop {
		e.Cause += "; the run before did not end by a stop"
	}
	a.events.add(e)
}

// noteStop tells of the end. It is the last event, by which the next start knows
// that nothing was cut short.
func (a *App) noteStop(context.Context) error {
	if a.ending != "" {
		a.events.add(health.Event{Kind: health.EventStop, Cause: a.ending})
	}
	return nil
}

// noteReload tells of a reload of one zone, or of everything where name is "".
func (a *App) noteReload(name, to, cause string) {
	a.events.add(health.Event{Kind: health.EventReload, To: to, Zone: zone.Display(name), Cause: cause})
}
