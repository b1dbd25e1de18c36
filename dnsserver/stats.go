package dnsserver

import "sync/atomic"

// Counts tells what became of the queries of one transport since the start.
type Counts struct {
	Received   uint64 // messages read from the network
	Answered   uint64 // answers handed to the kernel
	Dropped    uint64 // received, and no answer sent: not a query, too long, over the rate limit, or a panic
	SendErrors uint64 // answers that the kernel refused or the client did not take
	Panics     uint64 // messages whose handling panicked; each is in Dropped too
}

// Stats are the counters of a Server since its start.
type Stats struct {
	UDP, TCP    Counts
	Outcomes    Outcomes // of both transports
	Connections uint64   // TCP connections accepted
	Refused     uint64   // TCP connections closed at once, since their client had MaxConnectionsPerClient
	Evicted     uint64   // TCP connections closed for another, since MaxConnections were open
	Exhausted   uint64   // TCP connections closed after MaxQueries
	TimedOut    uint64   // TCP connections on which no query began, or none arrived whole, in time
	Open        int      // TCP connections open now
}

// counters are the counts of one worker: it alone adds, once for a batch; anyone may read. The pads keep two workers off one cache line.
type counters struct {
	_                                               [64]byte
	received, answered, dropped, sendErrors, panics atomic.Uint64
	_                                               [64]byte
}

// addTo sums the counters into c.
func (n *counters) addTo(c *Counts) {
	c.Received += n.received.Load()
	c.Answered += n.answered.Load()
	c.Dropped += n.dropped.Load()
	c.SendErrors += n.sendErrors.Load()
	c.Panics += n.panics.Load()
}

// tally is what one UDP worker counts. It outlives the worker: the server hands it on to another one.
type tally struct {
	counters counters
	outcomes AnswerCounts
}

// tally gives a new worker what to count in.
func (s *Server) tally() *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.idle) - 1; last >= 0 {
		t := s.idle[last]
		s.idle = s.idle[:last]
		return t
	}
	t := new(tally)
	s.tallies = append(s.tallies, t)
	return t
}

// forget takes the tallies of a listener's workers back, which have ended or never ran.
func (s *Server) forget(l *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range l.workers {
		s.idle = append(s.idle, w.tally)
	}
}
