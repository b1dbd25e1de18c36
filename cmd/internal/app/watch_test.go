package app

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap/zaptest/observer"
)

// serial gives the zone of header under another serial.
func serial(n uint32, records string) string {
	return strings.Replace(header, " 1 3600", fmt.Sprintf(" %d 3600", n), 1) + records
}

// awaitZone waits for the serial and the problem that status shows.
func awaitZone(t *testing.T, a *App, serial uint32, problem string) {
	t.Helper()
	what := fmt.Sprintf("serial %d and problem %q", serial, problem)
	eventually(t, what, func() bool {
		s, err := a.Status("")
		if err != nil || len(s.Zones) == 0 {
			return false
		}
		z := s.Zones[0]
		return z.Serial == serial && (problem == "" && z.Problem == "" || problem != "" && strings.Contains(z.Problem, problem))
	})
}

func awaitLog(t *testing.T, logs *observer.ObservedLogs, message string) {
	t.Helper()
	eventually(t, message, func() bool { return logs.FilterMessage(message).Len() > 0 })
}

func TestWatchSerial(t *testing.T) {
	a, logs := launch(t, "", header+pairs)
	put(t, "a.zone", serial(2, pairs+"new A 127.0.0.3\n"))
	awaitZone(t, a, 2, "")
	if got := query(t, a, "new.example.com"); got != "127.0.0.3" {
		t.Errorf("got %s", got)
	}
	awaitLog(t, logs, "zone reloaded")
	line := logs.FilterMessage("zone reloaded").All()[0].ContextMap()
	if line["zone"] != "example.com" || line["from"] != uint32(1) || line["to"] != uint32(2) {
		t.Errorf("logged %v", line)
	}

	put(t, "a.zone", serial(2, pairs))
	awaitZone(t, a, 2, "changed on disk, serial still 2: not loaded; raise the serial or run gslbd reload")
	if got := query(t, a, "new.example.com"); got != "127.0.0.3" {
		t.Errorf("got %s", got)
	}
	awaitLog(t, logs, "zone file is not what is served")

	put(t, "a.zone", serial(2, pairs+"new A 127.0.0.3\n"))
	awaitZone(t, a, 2, "")

	put(t, "a.zone", serial(3, "www A nonsense\n"))
	awaitZone(t, a, 2, "a.zone:6: ")
	put(t, "a.zone", serial(3, "www A 127.0.0.1\nwww A 127.0.0.2\n"))
	awaitZone(t, a, 2, "was steered")
	put(t, "a.zone", "no zone at all\n")
	awaitZone(t, a, 2, "SOA")
	if got := query(t, a, "www.example.com"); got != "127.0.0.1" {
		t.Errorf("got %s", got)
	}

	put(t, "a.zone", serial(1, pairs))
	awaitZone(t, a, 1, "")
	awaitLog(t, logs, "serial went backwards")
}

// TestWatchSerialSpace: the end of the number space is no step back (RFC 1982).
func TestWatchSerialSpace(t *testing.T) {
	a, logs := launch(t, "", serial(1<<32-1, pairs))
	put(t, "a.zone", serial(1, pairs))
	awaitZone(t, a, 1, "")
	if logs.FilterMessage("serial went backwards").Len() != 0 {
		t.Error("called backwards")
	}
}

// TestWatchReported: the same problem is logged once.
func TestWatchReported(t *testing.T) {
	a, logs := launch(t, "watch: false\n", header+pairs)
	put(t, "a.zone", header)
	for range 3 {
		a.examine("example.com.")
	}
	if got := logs.FilterMessage("zone file is not what is served").Len(); got != 1 {
		t.Errorf("logged %d times", got)
	}
	a.examine("unknown.example.")
	if problems := a.Reload(t.Context(), true); problems.Failed(false) {
		t.Error(problems)
	}
	awaitZone(t, a, 1, "")
}

// TestWatchTouched: a file that is as it was is no matter.
func TestWatchTouched(t *testing.T) {
	a, _ := launch(t, "watch: false\n", header+pairs)
	put(t, "a.zone", header+pairs)
	a.examine("example.com.")
	awaitZone(t, a, 1, "")
}

func TestWatchLinks(t *testing.T) {
	dirWith(t, "", header)
	put(t, "1/a.zone", serial(1, pairs))
	put(t, "2/a.zone", serial(2, pairs+"$INCLUDE inc\n"))
	put(t, "2/inc", "i A 127.0.0.5\n")
	put(t, "inc", "i A 127.0.0.5\n")
	relink(t, "1", "current")
	relink(t, "current/a.zone", "a.zone")
	a, _ := launchHere(t)
	awaitZone(t, a, 1, "")
	relink(t, "2", "current")
	awaitZone(t, a, 2, "")
	put(t, "inc", "i A 127.0.0.6\n")
	awaitZone(t, a, 2, "serial still 2")
}

func relink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name+".new"); err != nil {
		t.Fatal(err)
	}
	rename(t, name+".new", name)
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Error(err)
	}
}

// TestWatchDirectoryGone: a directory that is removed and made again is
// watched again.
func TestWatchDirectoryGone(t *testing.T) {
	dirWith(t, "", header)
	put(t, "gslbd.yaml", "listen: 127.0.0.1:0\nzones: [ { name: example.com, file: sub/a.zone } ]\n")
	put(t, "sub/a.zone", serial(1, pairs))
	a, _ := launchHere(t)
	rename(t, "sub", "old")
	put(t, "new/a.zone", serial(2, pairs))
	rename(t, "new", "sub")
	if problems := a.Reload(t.Context(), false); problems.Failed(false) {
		t.Fatal(problems)
	}
	awaitZone(t, a, 2, "")
	put(t, "sub/a.zone", serial(3, pairs))
	awaitZone(t, a, 3, "")
}

// TestWatchFailures: lost events make every zone be looked at; a directory
// that cannot be watched is a warning.
func TestWatchFailures(t *testing.T) {
	a, logs := launch(t, "watch: false\n", header+pairs)
	events, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	w := &watcher{app: a, events: events, dirs: map[string]fs.FileInfo{"/gone": nil}, refused: map[string]bool{}, due: map[string]time.Time{}}
	w.follow()
	w.failed(fsnotify.ErrEventOverflow)
	if len(w.due) != 1 || w.wait() > a.opts.Quiet {
		t.Errorf("due is %v", w.due)
	}
	put(t, "a.zone", serial(5, pairs))
	eventually(t, "the zone's time", func() bool { return w.wait() <= 0 })
	w.look()
	awaitZone(t, a, 5, "")
	if len(w.due) != 0 {
		t.Errorf("still due: %v", w.due)
	}
	events.Close()
	w.dirs = map[string]fs.FileInfo{}
	w.follow()
	w.follow()
	if logs.FilterMessage("directory is not watched").Len() != 2 { // the zone's, and the one above

		t.Errorf("logged %v", logs.All())
	}
}
