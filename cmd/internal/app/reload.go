package app

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.uber.org/zap"

	"gslbd/cmd/internal/config"
	"gslbd/health"
	"gslbd/zone"
)

// Reload reads the configuration and every zone again, changed or not. It is
// all or nothing: the problems hold an error exactly when what ran before runs
// on. An RRset that lost its annotations is such an error unless
// acceptUnsteered, and so is a new listen address that
// cannot be bound. Reloads wait for one another; ctx is asked before the swap.
func (a *App) Reload(ctx context.Context, acceptUnsteered bool) zone.Problems {
	return a.reload(ctx, acceptUnsteered, "asked for on the admin interface")
}

func (a *App) reload(ctx context.Context, acceptUnsteered bool, cause string) zone.Problems {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	if a.changing.enter(ctx) != nil {
		return zone.Problems{refuse("the reload was given up while another one ran", "try again")}
	}
	defer a.changing.leave()
	if a.life.Err() != nil { // said at once: cancel, above, may still be on its way
		return zone.Problems{refuse("gslbd is stopping", "")}
	}
	cfg, problems := a.reopen()
	if problems.Failed(false) {
		a.refused("", problems)
		return problems
	}
	var before guard
	if !acceptUnsteered {
		before = keysOf(a.cur.zones)
	}
	next, failed, found := loadState(ctx, cfg, before, a.load)
	defer a.releaseLoad(a.cur)
	problems = append(problems, found...)
	if next == nil {
		a.noteProblems(failed)
		a.refused("", problems)
		return problems
	}
	if ctx.Err() != nil || a.life.Err() != nil {
		return append(problems, refuse("the reload was given up before it was complete", "try again"))
	}
	listen, err := a.server.Listen(cfg.Listen) // the last step that can fail
	if err != nil {
		problems = append(problems, listenProblem(cfg, err))
		a.refused("", problems)
		return problems
	}
	problems = append(problems, a.fixed(cfg)...)
	a.swap(next)
	a.limit(cfg)
	listen() // new addresses answer from the new zones, within the new limits
	a.mu.Lock()
	a.problems = map[string]string{}
	a.mu.Unlock()
	LogProblems(a.log, problems)
	a.noteReload("", health.ReloadDone, cause)
	a.log.Info("reloaded", zap.Int("zones", len(next.zones)), zap.Int("groups", len(next.groups())))
	return problems
}

func (a *App) reopen() (*config.Config, zone.Problems) {
	if a.opts.Reopen == nil {
		return a.cur.cfg, nil
	}
	return a.opts.Reopen()
}

// swap makes next the state that is served and steered. The caller holds
// changing.
func (a *App) swap(next *state) {
	a.engine.Apply(next.model(), next.table, func() { a.publish(next) })
	a.mu.Lock()
	a.cur = next
	a.mu.Unlock()
	select {
	case a.watched <- struct{}{}:
	default: // it has been told already
	}
}

// reloadZone loads one zone again and leaves the others as they are. The
// caller holds changing.
func (a *App) reloadZone(old *served) zone.Problems {
	z, problems := a.load(a.life, old.source, a.cur.cfg.Vocabulary(), keysOf([]*served{old}))
	defer a.releaseLoad(a.cur)
	if z == nil {
		problems = placed(a.cur.cfg, slices.Index(a.cur.cfg.Zones, old.source), problems)
		a.noteProblems(map[string]string{old.name: summary(problems)})
		a.refused(old.name, problems)
		return problems
	}
	problems = append(problems, advise(a.cur.cfg, z)...)
	next := &state{cfg: a.cur.cfg, zones: slices.Clone(a.cur.zones)}
	next.zones[slices.Index(next.zones, old)] = z
	next.table = tableOf(next.zones)
	a.swap(next)
	a.noteProblems(map[string]string{old.name: ""})
	LogProblems(a.log, problems)
	a.noteReload(old.name, health.ReloadDone, fmt.Sprintf("its file changed: serial %d -> %d", old.serial, z.serial))
	a.log.Info("zone reloaded", zap.String("zone", zone.Display(z.name)),
		zap.Uint32("from", old.serial), zap.Uint32("to", z.serial), zap.Int("records", z.records))
	return problems
}

// noteProblems keeps, by zone name, why a file is not what is served; "" when it is.
func (a *App) noteProblems(found map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.Copy(a.problems, found)
}

// fixed warns of settings that are read at the start only, for as long as they
// differ from what was read then.
func (a *App) fixed(next *config.Config) zone.Problems {
	var problems zone.Problems
	for _, key := range a.first.Changed(next) {
		problems = append(problems, zone.Problem{
			File:     next.File,
			Line:     next.Line(key), // 0 where it was taken out
			Severity: zone.Warning,
			Message:  key + " changed: takes effect at a restart",
			Hint:     "restart gslbd to use the new value",
		})
	}
	return problems
}

// refused tells of a reload of one zone, or of everything where name is "", that
// changed nothing.
func (a *App) refused(name string, problems zone.Problems) {
	a.noteReload(name, health.ReloadRefused, summary(problems))
	LogProblems(a.log, problems)
	a.log.Error("reload refused: what was served before is served on", zap.Int("problems", len(problems)))
}

// refuse is an error that concerns no file.
func refuse(message, hint string) zone.Problem {
	return zone.Problem{File: "gslbd", Severity: zone.Error, Message: message, Hint: hint}
}
