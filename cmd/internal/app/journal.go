package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"gslbd/health"
)

const (
	journalName  = "events.jsonl"
	maxJournal   = 64 << 20         // bytes; then a new file is begun
	journalChunk = 256 << 10        // bytes, of one write
	journalRetry = 10 * time.Second // after a failure
)

const journalHint = "state_dir must be on a file system with room; the last 10000 events are in memory: gslbd events"

// journal is the file of all events, one JSON document a line. It is opened for
// each burst of events, so that it may be moved away or deleted at any time.
type journal struct {
	dir     string
	limit   int64 // bytes, of one file
	log     *zap.Logger
	unsaved []health.Event
	failure string // the last one, "" after a success
}

func (j *journal) path() string { return filepath.Join(j.dir, journalName) }
func (j *journal) old() string  { return j.path() + ".1" } // the full one before

// run writes what the recorder takes down, until ctx ends, and then the rest.
func (j *journal) run(ctx context.Context, r *recorder) {
	for {
		pending, retry := r.pending, (<-chan time.Time)(nil)
		if j.failure != "" {
			pending, retry = nil, time.After(journalRetry)
		}
		select {
		case <-pending:
		case <-retry:
		case <-ctx.Done():
			j.save(r)
			rest, dropped := r.take()
			j.lost(len(j.unsaved) + len(rest) + dropped)
			return
		}
		j.save(r)
	}
}

// save writes what is unsaved and all that comes meanwhile, up to a failure.
func (j *journal) save(r *recorder) {
	for {
		if len(j.unsaved) == 0 {
			var dropped int
			j.unsaved, dropped = r.take()
			j.lost(dropped)
		}
		if len(j.unsaved) == 0 {
			return
		}
		n, err := j.write(j.unsaved)
		j.unsaved = j.unsaved[n:]
		j.report(err)
		if err != nil {
			return
		}
	}
}

// lost logs how many events are not in the file and will not be.
func (j *journal) lost(n int) {
	if n > 0 {
		j.log.Warn("events lost", zap.String("file", j.path()), zap.Int("events", n))
	}
}

// report logs the first of equal failures, and their end.
func (j *journal) report(err error) {
	switch {
	case err == nil && j.failure != "":
		j.log.Info("events are written again", zap.String("file", j.path()))
	case err != nil && err.Error() != j.failure:
		j.log.Warn("events could not be written", zap.Error(err), zap.String("hint", journalHint))
	}
	if j.failure = ""; err != nil {
		j.failure = err.Error()
	}
}

// write appends events; n says how many of them are in the file as whole lines.
func (j *journal) write(events []health.Event) (n int, err error) {
	var chunk bytes.Buffer
	enc := json.NewEncoder(&chunk)
	enc.SetEscapeHTML(false)
	for n < len(events) {
		chunk.Reset()
		taken := 0
		for _, e := range events[n:] {
			if err := enc.Encode(e); err != nil {
				return n, err
			}
			if taken++; chunk.Len() >= journalChunk {
				break
			}
		}
		if err := j.append(chunk.Bytes()); err != nil {
			return n, err
		}
		n += taken
	}
	return n, nil
}

// append adds whole lines to the file, or nothing.
func (j *journal) append(lines []byte) error {
	f, size, err := j.open()
	if err != nil {
		return err
	}
	if size > 0 && size+int64(len(lines)) > j.limit {
		if err := errors.Join(f.Close(), os.Rename(j.path(), j.old())); err != nil {
			return err
		}
		if f, size, err = j.open(); err != nil {
			return err
		}
	}
	if _, err = f.Write(lines); err != nil {
		err = errors.Join(err, f.Truncate(size)) // half a line
	}
	return errors.Join(err, f.Close())
}

// open gives the file and its size, with an end of line at the end: a crash may
// have torn the last one.
func (j *journal) open() (*os.File, int64, error) {
	if err := regular(j.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	f, err := os.OpenFile(j.path(), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return nil, 0, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	last := []byte{'\n'}
	if err == nil && size > 0 {
		_, err = f.ReadAt(last, size-1)
	}
	if err == nil && last[0] != '\n' {
		size++
		_, err = f.Write([]byte{'\n'})
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

// regular refuses what would block or is no file, like a pipe.
func regular(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a regular file")}
	}
	return err
}
