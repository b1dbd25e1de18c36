package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"gslbd/health"
)

func newJournal(t *testing.T) (*journal, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	return &journal{dir: t.TempDir(), limit: maxJournal, log: zap.New(core)}, logs
}

// some gives events with the IDs from first to last.
func some(first, last uint64) (events []health.Event) {
	for id := first; id <= last; id++ {
		events = append(events, health.Event{ID: id, Time: time.Unix(int64(id), 0).UTC(), Kind: health.EventMember, Cause: "<a&b>"})
	}
	return events
}

func (j *journal) mustWrite(t *testing.T, events []health.Event) {
	t.Helper()
	if n, err := j.write(events); err != nil || n != len(events) {
		t.Fatalf("%d of %d written: %v", n, len(events), err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// last gives the IDs that a start finds.
func (j *journal) last(t *testing.T) (first, last uint64, n, damaged int) {
	t.Helper()
	events, damaged, err := j.tail()
	if err != nil {
		t.Fatal(err)
	}
	if n = len(events); n > 0 {
		first, last = events[0].ID, events[n-1].ID
	}
	return first, last, n, damaged
}

// A line holds what the interface gives, and nothing that is empty.
func TestJournalLine(t *testing.T) {
	j, _ := newJournal(t)
	e := some(1, 1)[0]
	e.NewAnswer = []string{}
	j.mustWrite(t, []health.Event{e})
	if got, want := content(t, j.path()), `{"id":1,"time":"1970-01-01T00:00:01Z","kind":"member","cause":"<a&b>","new_answer":[]}`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if info, err := os.Stat(j.path()); err != nil || info.Mode()&^0o640 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// When the file would grow over its limit, it becomes the old one, which goes.
// No line is lost at the seam or torn by it.
func TestJournalRotates(t *testing.T) {
	j, _ := newJournal(t)
	j.mustWrite(t, some(1, 1))
	line := int64(len(content(t, j.path())))
	j.limit = 3 * line
	for id := uint64(2); id <= 8; id++ {
		j.mustWrite(t, some(id, id))
	}
	if first, last, n, damaged := j.last(t); first != 4 || last != 8 || n != 5 || damaged != 0 {
		t.Errorf("%d from %d to %d, %d damaged", n, first, last, damaged)
	}
	if now := strings.Count(content(t, j.path()), "\n"); now != 2 {
		t.Errorf("%d lines in the present file", now)
	}
	j.mustWrite(t, some(9, 40)) // more than the limit at once: in one piece
	if first, last, n, _ := j.last(t); first != 7 || last != 40 || n != 34 {
		t.Errorf("%d from %d to %d", n, first, last)
	}
}

// Of a long file the last 10,000 are read, with those that are missing to that
// from the one before.
func TestJournalTail(t *testing.T) {
	j, _ := newJournal(t)
	if _, _, n, damaged := j.last(t); n != 0 || damaged != 0 {
		t.Errorf("%d, %d damaged", n, damaged)
	}
	j.mustWrite(t, some(1, 12_000))
	if err := os.Rename(j.path(), j.old()); err != nil {
		t.Fatal(err)
	}
	if first, last, n, _ := j.last(t); first != 2001 || last != 12_000 || n != 10_000 {
		t.Errorf("%d from %d to %d", n, first, last)
	}
	j.mustWrite(t, some(12_001, 13_000))
	if first, last, n, _ := j.last(t); first != 3001 || last != 13_000 || n != 10_000 {
		t.Errorf("%d from %d to %d", n, first, last)
	}
	j.mustWrite(t, some(13_001, 200_000)) // more than is read of a file
	if first, last, n, damaged := j.last(t); first != 190_001 || last != 200_000 || n != 10_000 || damaged != 0 {
		t.Errorf("%d from %d to %d, %d damaged", n, first, last, damaged)
	}
}

// What a crash tore, and what is no event, is passed over; the next line begins
// on its own.
func TestJournalDamage(t *testing.T) {
	j, _ := newJournal(t)
	j.mustWrite(t, some(1, 2))
	torn := content(t, j.path()) + `{"id":3,"time":"19`
	if err := os.WriteFile(j.path(), []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	j.mustWrite(t, some(4, 4))
	f, err := os.OpenFile(j.path(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"", "\x00\x00\x00", "null", "[]", `{"id":0,"kind":"member"}`, `{"id":7}`, `{"id":9007199254740992,"kind":"member"}`, `{"id":9007199254740991,"kind":"member"}`,
		`{"id":-1,"kind":"member"}`, `{"id":5,"kind":"member","time":"yesterday"}`, strings.Repeat("x", 1<<20)} {
		if _, err := f.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if first, last, n, damaged := j.last(t); first != 1 || last != 4 || n != 3 || damaged != 12 {
		t.Errorf("%d from %d to %d, %d damaged", n, first, last, damaged)
	}
}

// A disk that takes nothing is told once, tried every 10 s, and all is written
// once it can be; what cannot be at the end is counted.
func TestJournalFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, logs := newJournal(t)
		r := newRecorder()
		r.resume(nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); j.run(ctx, r) }()
		wait := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		blocked := filepath.Join(j.path(), "x")
		block := func() {
			if err := os.MkdirAll(blocked, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		free := func() {
			if err := os.RemoveAll(j.path()); err != nil {
				t.Fatal(err)
			}
		}
		block()
		for range 25 {
			r.add(health.Event{Kind: health.EventMember})
			wait(time.Second)
		}
		free()
		wait(4 * time.Second)
		if _, err := os.Stat(j.path()); err == nil {
			t.Error("tried before its time")
		}
		wait(time.Second)
		if first, last, n, _ := j.last(t); first != 1 || last != 25 || n != 25 {
			t.Errorf("%d from %d to %d", n, first, last)
		}
		free()
		block()
		r.add(health.Event{Kind: health.EventMember})
		wait(time.Second)
		r.add(health.Event{Kind: health.EventMember})
		cancel()
		<-done
		var told []string
		for _, line := range logs.All() {
			told = append(told, line.Message)
		}
		if got := strings.Join(told, ", "); got != "events could not be written, events are written again, events could not be written, events lost" {
			t.Error(got)
		}
		if n := logs.FilterMessage("events lost").All()[0].ContextMap()["events"]; n != int64(2) {
			t.Errorf("%v events lost, want those that wait in both places", n)
		}
	})
}

// A file that cannot be read does not cost the events of the other, and IDs do
// not begin anew because of it.
func TestJournalTailOfOneFile(t *testing.T) {
	for _, broken := range []string{journalName, journalName + ".1"} {
		j, _ := newJournal(t)
		whole := journalName + ".1"
		if broken == whole {
			whole = journalName
		}
		j.mustWrite(t, some(5, 9))
		if err := os.Rename(j.path(), filepath.Join(j.dir, "aside")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(j.dir, "aside"), filepath.Join(j.dir, whole)); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(j.dir, broken), 0o700); err != nil {
			t.Fatal(err)
		}
		events, _, err := j.tail()
		if len(events) != 5 || events[0].ID != 5 || err == nil || !strings.HasSuffix(err.Error(), broken+": is not a regular file") {
			t.Errorf("%s: %d events, %v", broken, len(events), err)
		}
	}
}
