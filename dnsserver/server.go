// Package dnsserver answers DNS queries: the sockets, and the one function, Responder.Respond, in which a query becomes an answer.
//
// UDP runs one goroutine per socket, several sockets per address on Linux, with many messages per system call. TCP connections are run by
// a dns.Server. Both hand the raw message to Respond and send what it gives; nothing else in the program makes an answer.
package dnsserver

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"

	"gslbd/dnsserver/answer"
)

// responder makes the answer to one packet; see Responder.Respond. The seam lets the sockets be tested without zones.
type responder interface {
	Respond(dst, packet []byte, client netip.AddrPort, transport Transport) []byte
}

// Server answers DNS queries on the sockets of its addresses. Its life is New, Start, Stop, once.
type Server struct {
	opts         Options
	table        atomic.Pointer[answer.Table]  // what every Responder answers from
	shared       *Shared                       // settings and clock of every Responder
	newResponder func(*AnswerCounts) responder // one for each goroutine that answers
	limiter      atomic.Pointer[rateLimiter]   // of every Responder; see SetRateLimit
	control      func(network, address string, raw syscall.RawConn) error
	guard        guard
	tcp          *tcpShared

	life    context.Context // of what finishes after its address was removed; Stop cuts it short
	end     context.CancelFunc
	leaving sync.WaitGroup // such listeners

	changing      sync.Mutex // held from a Listen until its commit is over; nobody waits for it under mu
	receive, send buffer     // guarded by changing

	mu        sync.Mutex // guards what follows
	started   bool
	stopped   bool
	listeners []*listener   // what is served, in the order of the addresses
	tallies   []*tally      // of every worker there ever was
	idle      []*tally      // those of workers that are gone; the next ones count on in them
	clock     chan struct{} // closed to stop the clock
	ticking   sync.WaitGroup
}

// New makes a Server; nothing is bound before Start. It answers REFUSED until SetTable gave it something to answer from.
func New(opts Options) *Server {
	s := &Server{opts: opts.withDefaults(), shared: NewShared(), clock: make(chan struct{})}
	s.receive, s.send = newBuffers(opts, s.opts)
	s.guard.log = s.opts.Log
	s.newResponder = func(count *AnswerCounts) responder {
		r := NewResponder(&s.table, count).With(s.shared)
		r.rate = &s.limiter
		return r
	}
	s.tcp = newTCPShared(s)
	s.life, s.end = context.WithCancel(context.Background())
	s.SetTCPLimits(s.opts.TCP)
	return s
}

// SetTable makes t what is answered from, at once and for every socket: a query sees the old table or the new one, whole.
func (s *Server) SetTable(t *answer.Table) { s.table.Store(t) }

// Shared gives what all answers depend on beside the table: the settings and the clock.
func (s *Server) Shared() *Shared { return s.shared }

var (
	errStarted    = errors.New("dns server: started already")
	errNotStarted = errors.New("dns server: not started")
	errStopped    = errors.New("dns server: stopped")
)

// running tells why the server does not run; nil when it does.
func (s *Server) running() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.started:
		return errNotStarted
	case s.stopped:
		return errStopped
	}
	return nil
}

// Start binds every address, all or none, and answers from then on. An error is a *ListenError that names the address and a hint, or
// tells that Start was called before.
func (s *Server) Start() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.running() != errNotStarted {
		return errStarted
	}
	commit, err := s.bindAll(s.opts.Listen)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.started = true
	s.limiter.Load().start()
	s.ticking.Go(func() { s.shared.tick(s.clock) })
	s.mu.Unlock()
	commit()
	return nil
}

// Stop takes no more queries, finishes those in hand, and returns when every goroutine of the server has ended. When ctx ends first, the
// TCP connections still busy are cut off; the error then says so. Stop on a server that was not started does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	var listeners []*listener
	if s.started && !s.stopped {
		listeners, s.stopped = s.listeners, true
		defer s.ticking.Wait()
		defer close(s.clock)
	}
	s.mu.Unlock()
	defer context.AfterFunc(ctx, s.end)()
	errs := make([]error, len(listeners))
	var wait sync.WaitGroup
	for i, l := range listeners {
		wait.Go(func() { errs[i] = l.stop(ctx) })
	}
	wait.Wait()
	s.leaving.Wait()
	s.stopRateLimit()
	return errors.Join(errs...)
}

// Addrs lists the addresses being served, in the order of Options.Listen or of the last Listen, with the real port where 0 was asked. Each is served over UDP and TCP.
func (s *Server) Addrs() []netip.AddrPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	addrs := make([]netip.AddrPort, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.bound
	}
	return addrs
}

// Stats sums the counters of all sockets, those of removed addresses included: they never go back, and stay readable after Stop.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.tcp.stats()
	for _, t := range s.tallies {
		t.counters.addTo(&stats.UDP)
		t.outcomes.AddTo(&stats.Outcomes)
	}
	return stats
}
