package app

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"gslbd/health"
)

const (
	saveDelay  = time.Second      // from a change to the writing, so that a burst is one
	saveRetry  = 10 * time.Second // after a failure
	maxRefresh = 5 * time.Minute
	// saveShare is the inverse of the part of the time that may go into saving,
	// however often something changes.
	saveShare = 20
)

// keeper writes the state a moment after each change and at the end, and now
// and then without a change, so that the file does not grow old while all is
// well.
type keeper struct {
	saved   func() *health.Saved // nil: nothing fit to be kept yet
	write   func(document) error
	log     *zap.Logger
	event   func(health.Event)
	changed <-chan struct{}
	refresh time.Duration

	failure string // the last one, "" after a success
}

// refreshOf keeps the file well within its maximum age.
func refreshOf(maxAge time.Duration) time.Duration { return min(maxAge/4, maxRefresh) }

// run saves until ctx ends, and then once more.
func (k *keeper) run(ctx context.Context) {
	due, earliest := time.Now().Add(k.refresh), time.Time{}
	timer := time.NewTimer(k.refresh)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			k.save()
			return
		case <-k.changed:
			if at := later(time.Now().Add(saveDelay), earliest); at.Before(due) {
				due = at
			}
		case <-timer.C:
			began := time.Now()
			wait := k.save()
			earliest = time.Now().Add(saveShare * time.Since(began))
			due = time.Now().Add(wait)
			if k.failure != "" {
				earliest = due
			}
		}
		timer.Reset(time.Until(due))
	}
}

// save writes the state and says when to do so again at the latest.
func (k *keeper) save() (wait time.Duration) {
	saved := k.saved()
	if saved == nil {
		return saveDelay
	}
	err := k.write(document{Version: stateVersion, Time: time.Now(), Saved: *saved})
	switch {
	case err == nil && k.failure != "":
		k.log.Info("state is kept again")
		k.event(health.Event{Kind: health.EventFault, To: health.FaultOver})
	case err != nil && err.Error() != k.failure:
		k.log.Warn("state could not be kept", zap.Error(err), zap.String("hint", stateHint))
		k.event(health.Event{Kind: health.EventFault, To: health.FaultBegun, Cause: "state could not be kept: " + err.Error()})
	}
	if k.failure = ""; err != nil {
		k.failure = err.Error()
		return saveRetry
	}
	return k.refresh
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

const stateHint = "state_dir must be a directory that gslbd may write to, on a file system with room; without it nothing is kept over a restart"

const sharedHint = "state_dir must be another directory for each gslbd; without it nothing is kept over a restart"

// openState locks state_dir and gives the engine what it holds. Whatever is wrong
// there is a line in the log and never keeps the server from starting. A disk that
// can no longer be written to may still tell what was answered last.
func (a *App) openState() {
	path := a.cur.cfg.StateDir
	if path == "" {
		return
	}
	dir, err := openStateDir(path)
	switch {
	case err == nil:
		a.undo.push(func(context.Context) error { return dir.close() })
		a.state = dir
	case errors.Is(err, errShared):
		a.log.Warn("state is not kept", zap.String("state_dir", path), zap.Error(err), zap.String("hint", sharedHint))
		return
	default:
		a.log.Warn("state is not kept", zap.String("state_dir", path), zap.Error(err), zap.String("hint", stateHint))
		dir = &stateDir{path: path}
	}
	doc, err := dir.read()
	if err != nil {
		a.unreadable(dir, err)
		return
	}
	if doc != nil {
		a.restore(dir, doc)
	}
}

// restore gives the engine what was saved, unless it is too old.
func (a *App) restore(dir *stateDir, doc *document) {
	cfg := a.cur.cfg
	fields := []zap.Field{zap.String("file", dir.file()), zap.Time("saved", doc.Time), zap.Int("groups", len(doc.Groups))}
	unfit := ""
	switch age := time.Since(doc.Time); {
	case age > cfg.StateMaxAge:
		unfit = "older than state_max_age"
	case age < -cfg.StateMaxAge:
		unfit = "from the future by more than state_max_age"
	}
	if unfit != "" {
		a.log.Info("saved state not used: "+unfit, append(fields, zap.Duration("state_max_age", cfg.StateMaxAge))...)
		return
	}
	a.engine.Restore(doc.Saved)
	a.log.Info("saved state used", fields...)
}

// unreadable reports a file that cannot be used, and sets a damaged one aside.
func (a *App) unreadable(dir *stateDir, err error) {
	fields := []zap.Field{zap.String("file", dir.file()), zap.Error(err)}
	if _, ok := errors.AsType[damaged](err); ok {
		aside, renameErr := dir.setAside()
		if renameErr != nil {
			fields = append(fields, zap.NamedError("set_aside", renameErr))
		} else {
			fields = append(fields, zap.String("set_aside", aside))
		}
	}
	a.log.Warn("saved state not used: every member begins as unknown", fields...)
}

// keepState begins to save, if there is a place for it.
func (a *App) keepState() {
	if a.state == nil {
		return
	}
	k := &keeper{saved: a.engine.Saved, write: a.state.write, log: a.log, event: a.events.add, changed: a.dirty, refresh: refreshOf(a.cur.cfg.StateMaxAge)}
	a.undo.start(k.run, "the state could not be kept in time")
}
