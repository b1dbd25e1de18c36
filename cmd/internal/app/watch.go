package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"
)

// watcher reloads a zone when its files have been quiet and its serial changed.
type watcher struct {
	app    *App
	events *fsnotify.Watcher
	// names maps each path whose change concerns zones (files, and the links
	// on the way to them) to the names of those zones.
	names   map[string][]string
	dirs    map[string]fs.FileInfo // the directories being watched
	refused map[string]bool        // directories that could not be watched, and were reported
	// due holds, for each zone that was touched, when to look at it.
	due map[string]time.Time
}

// startWatch begins to watch, if so configured. A machine that cannot (inotify
// limits) is served all the same, with a warning.
func (a *App) startWatch() {
	if !a.cur.cfg.Watch {
		return
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		a.log.Warn("zone files are not watched", zap.Error(err),
			zap.String("hint", "raise fs.inotify.max_user_instances, or set watch: false and use gslbd reload"))
		return
	}
	w := &watcher{app: a, events: events, dirs: map[string]fs.FileInfo{}, refused: map[string]bool{}, due: map[string]time.Time{}}
	w.follow()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { w.run(ctx) })
	a.undo.push(func(context.Context) error {
		cancel()
		done.Wait()
		return events.Close()
	})
}

// run is the watcher's goroutine.
func (w *watcher) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(w.wait())
		select {
		case <-ctx.Done():
			return
		case <-w.app.watched:
			w.follow()
		case event := <-w.events.Events:
			w.touch(w.names[event.Name])
		case err := <-w.events.Errors:
			w.failed(err)
		case <-timer.C:
			w.look()
		}
	}
}

// wait is how long until the next zone is due.
func (w *watcher) wait() time.Duration {
	next := time.Hour
	for _, at := range w.due {
		next = min(next, time.Until(at))
	}
	return next
}

// touch starts the quiet time of zones anew.
func (w *watcher) touch(zones []string) {
	for _, name := range zones {
		w.due[name] = time.Now().Add(w.app.opts.Quiet)
	}
}

// failed looks at every zone when events were lost.
func (w *watcher) failed(err error) {
	w.app.log.Warn("watching zone files", zap.Error(err))
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		for _, zones := range w.names {
			w.touch(zones)
		}
	}
}

// look examines the zones whose time has come. Watching comes first, so that no
// change falls between.
func (w *watcher) look() {
	w.follow()
	for name, at := range w.due {
		if time.Until(at) <= 0 {
			delete(w.due, name)
			w.app.examine(name)
		}
	}
}

// follow brings names and watched directories up to date with the zones
// served and with where their links lead now.
func (w *watcher) follow() {
	w.app.mu.RLock()
	zones := w.app.cur.zones
	w.app.mu.RUnlock()
	w.names = map[string][]string{}
	dirs := map[string]fs.FileInfo{}
	for _, z := range zones {
		for _, file := range z.files {
			for _, s := range steps(file) {
				w.names[s.path()] = append(w.names[s.path()], z.name)
				dirs[s.dir] = nil
			}
		}
	}
	for dir, before := range w.dirs {
		now, err := os.Stat(dir)
		if _, wanted := dirs[dir]; wanted && err == nil && os.SameFile(before, now) {
			dirs[dir] = before
			continue
		}
		_ = w.events.Remove(dir) // gone already when the directory is
	}
	for dir, known := range dirs {
		if known == nil && !w.watch(dirs, dir) {
			delete(dirs, dir) // to be tried again
		}
	}
	w.dirs = dirs
}

// watch begins to watch one more directory. One that does not exist is reported
// with the zone that misses it.
func (w *watcher) watch(dirs map[string]fs.FileInfo, dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	if err := w.events.Add(dir); err != nil {
		if !w.refused[dir] {
			w.app.log.Warn("directory is not watched", zap.String("directory", dir), zap.Error(err),
				zap.String("hint", "raise fs.inotify.max_user_watches, or use gslbd reload after a change"))
		}
		w.refused[dir] = true
		return false
	}
	delete(w.refused, dir)
	dirs[dir] = info
	return true
}
