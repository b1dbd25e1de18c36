package app

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"gslbd/health"
)

const (
	// maxEvents is how many events are remembered for those who ask.
	maxEvents = 10_000
	// maxUnwritten bounds the memory that events take which the disk does not.
	maxUnwritten = 10 * maxEvents
)

// recorder remembers what happened. Whoever tells it of something never waits
// for those who read. Its methods may be called from many goroutines at once.
type recorder struct {
	// reading is held by one of those who read at a time, so that whoever adds
	// waits for no more than the copying of pointers by one of them.
	reading sync.Mutex
	found   []*health.Event // by the holder of reading

	mu    sync.Mutex
	ring  []*health.Event // by rising ID; once it is full the oldest is at first; none is ever changed
	first int
	last  uint64        // the newest ID
	more  chan struct{} // closed with the next event; nil: nobody waits

	journaled bool           // there is a file to be written
	unwritten []health.Event // to that file
	dropped   int            // what did not fit into unwritten since the last take
	pending   chan struct{}  // of capacity 1: something is unwritten
}

func newRecorder() *recorder { return &recorder{pending: make(chan struct{}, 1)} }

// add gives the event its ID, and its time if it has none.
func (r *recorder) add(e health.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	if e.ID = r.last; e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	r.remember(&e)
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	switch {
	case !r.journaled:
		return
	case len(r.unwritten) >= maxUnwritten:
		r.dropped++
	default:
		r.unwritten = append(r.unwritten, e)
	}
	select {
	case r.pending <- struct{}{}:
	default:
	}
}

func (r *recorder) remember(e *health.Event) {
	if len(r.ring) < maxEvents {
		r.ring = append(r.ring, e)
		return
	}
	r.ring[r.first] = e
	r.first = (r.first + 1) % maxEvents
}

// after gives the events after an ID, oldest first, and a channel that is closed
// once there are newer ones. All that is remembered comes after an ID that was
// not given out yet: it is of a life before, of which nothing was kept.
func (r *recorder) after(id uint64) (events []health.Event, more <-chan struct{}) {
	r.reading.Lock()
	defer r.reading.Unlock()
	more = r.find(id)
	if len(r.found) == 0 {
		return nil, more
	}
	events = make([]health.Event, len(r.found))
	for i, e := range r.found {
		events[i] = *e
	}
	return events, more
}

// find makes found the events after an ID.
func (r *recorder) find(id uint64) (more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id > r.last {
		id = 0
	}
	r.found = r.found[:0]
	older, newer := r.ring[r.first:], r.ring[:r.first]
	for _, part := range [][]*health.Event{older, newer} {
		from, _ := slices.BinarySearchFunc(part, id+1, func(e *health.Event, id uint64) int { return cmp.Compare(e.ID, id) })
		r.found = append(r.found, part[from:]...)
	}
	if r.more == nil {
		r.more = make(chan struct{})
	}
	return r.more
}

// newest gives the last event; false: there is none.
func (r *recorder) newest() (e health.Event, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.ring)
	if n == 0 {
		return e, false
	}
	return *r.ring[(r.first+n-1)%n], true
}

// take gives the events that are to be written, and how many were dropped before
// them for want of memory.
func (r *recorder) take() (events []health.Event, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events, dropped = r.unwritten, r.dropped
	r.unwritten, r.dropped = nil, 0
	return events, dropped
}

// resume goes on from the events of a life before, oldest first, and from now on
// keeps what is to be written.
func (r *recorder) resume(before []health.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journaled = true
	for _, e := range before {
		if e.ID <= r.last {
			r.ring, r.first = nil, 0 // IDs began anew: what came before cannot be told apart
		}
		r.last = e.ID
		r.remember(&e)
	}
}
