package app

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	maxQueued  = 16 << 20        // bytes of log lines that may wait to be written
	maxPiece   = 4096            // bytes of lines written together: a pipe takes so many whole or not at all (PIPE_BUF of Linux)
	maxSpare   = 64 << 10        // bytes of a buffer that is kept for later lines
	flushLimit = 1 * time.Second // how long Sync waits
)

// lineQueue takes log lines and writes them from a goroutine of its own, so
// that neither steering nor a stop ever waits for a slow or stuck reader of the
// log. Lines beyond maxQueued are lost; their number is written instead.
type lineQueue struct {
	out  io.Writer
	lost func(n int) []byte // the line that tells of n lost ones

	mu      sync.Mutex
	text    []byte // lines, each with its end
	dropped int
	drained chan struct{} // closed when all is written; nil when nothing waits
}

// Write queues one line. It never fails and never waits.
func (q *lineQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.text)+len(line) > maxQueued {
		q.dropped++
		return len(line), nil
	}
	q.text = append(q.text, line...)
	if q.drained == nil {
		q.drained = make(chan struct{})
		go q.drain()
	}
	return len(line), nil
}

// drain writes what waits and then ends. Whom should it tell of an error?
func (q *lineQueue) drain() {
	var spare []byte
	for {
		text := q.take(spare)
		if text == nil {
			return
		}
		for rest := text; len(rest) > 0; {
			n := piece(rest)
			_, _ = q.out.Write(rest[:n])
			rest = rest[n:]
		}
		spare = nil
		if cap(text) <= maxSpare {
			spare = text[:0]
		}
	}
}

// piece is the length of as many lines as are written together, at least one.
func piece(text []byte) int {
	if len(text) <= maxPiece {
		return len(text)
	}
	if end := bytes.LastIndexByte(text[:maxPiece], '\n'); end >= 0 {
		return end + 1
	}
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return end + 1
	}
	return len(text)
}

// take gives the lines that wait, and leaves spare to those that come; nil when
// there are none.
func (q *lineQueue) take(spare []byte) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	text := q.text
	if q.dropped > 0 {
		text = append(text, q.lost(q.dropped)...)
	}
	q.text, q.dropped = spare, 0
	if len(text) == 0 {
		close(q.drained)
		q.drained = nil
		return nil
	}
	return text
}

// Sync waits until what was queued is written, at most flushLimit.
func (q *lineQueue) Sync() error {
	q.mu.Lock()
	drained := q.drained
	q.mu.Unlock()
	if drained == nil {
		return nil
	}
	select {
	case <-drained:
		return nil
	case <-time.After(flushLimit):
		return errors.New("nobody reads the log")
	}
}
