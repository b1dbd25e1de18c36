package app

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"gslbd/health"
	"gslbd/zone"
)

// examine compares a zone's files with what is served and loads them when the
// serial changed. RFC 1982 has no say: a serial that went backwards is a
// change too, but one that secondaries would not follow, so it is remarked on.
func (a *App) examine(name string) {
	if a.changing.enter(a.life) != nil {
		return
	}
	defer a.changing.leave()
	z := a.zone(name)
	if z == nil {
		return
	}
	serial, err := zone.Serial(z.source.File)
	switch {
	case err != nil:
		a.keepServing(z, err.Error())
	case serial != z.serial:
		if int32(serial-z.serial) < 0 {
			a.log.Warn("serial went backwards", zap.String("zone", zone.Display(z.name)),
				zap.Uint32("from", z.serial), zap.Uint32("to", serial))
		}
		a.reloadZone(z)
	case sumOf(z.files, time.Time{}) == z.sum:
		a.noteProblems(map[string]string{z.name: ""})
	default:
		a.keepServing(z, fmt.Sprintf("changed on disk, serial still %d: not loaded; raise the serial or run gslbd reload", serial))
	}
}

// keepServing reports why a file is not loaded, once for each cause.
func (a *App) keepServing(z *served, problem string) {
	a.mu.RLock()
	known := a.problems[z.name]
	a.mu.RUnlock()
	if known == problem {
		return
	}
	a.noteProblems(map[string]string{z.name: problem})
	a.noteReload(z.name, health.ReloadRefused, problem)
	a.log.Warn("zone file is not what is served", zap.String("zone", zone.Display(z.name)),
		zap.String("file", z.source.File), zap.String("problem", problem))
}

// zone finds a served zone by its canonical name.
func (a *App) zone(name string) *served {
	for _, z := range a.cur.zones {
		if z.name == name {
			return z
		}
	}
	return nil
}
