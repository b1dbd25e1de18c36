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
	flushLimit = 1 * time.Second // how long Sync waits
)

// lineQueue takes log lines and writes them from a goroutine of its own, so
// that neither steering nor a stop ever waits for a slow or stuck reader of the
// log. Lines beyond maxQueued are lost; their number is written instead.
type lineQueue struct {
	out  io.Writer
	lost func(n int) []byte // the line that tells of n lost ones

	mu      sync.Mutex
	lines   [][]byte
	size    int // bytes in lines
	dropped int
	drained chan struct{} // closed when all is written; nil when nothing waits
}

// Write queues one line. It never fails and never waits.
func (q *lineQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size+len(line) > maxQueued {
		q.dropped++
		return len(line), nil
	}
	q.lines = append(q.lines, bytes.Clone(line))
	q.size += len(line)
	if q.drained == nil {
		q.drained = make(chan struct{})
		go q.drain()
	}
	return len(line), nil
}

// drain writes what waits and then ends. Whom should it tell of an error?
func (q *lineQueue) drain() {
	for {
		lines := q.take()
		if lines == nil {
			return
		}
		for _, line := range lines {
			_, _ = q.out.Write(line)
		}
	}
}

// take gives the lines that wait; nil when there are none.
func (q *lineQueue) take() [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	lines := q.lines
	if q.dropped > 0 {
		lines = append(lines, q.lost(q.dropped))
	}
	q.lines, q.size, q.dropped = nil, 0, 0
	if lines == nil {
		close(q.drained)
		q.drained = nil
	}
	return lines
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
