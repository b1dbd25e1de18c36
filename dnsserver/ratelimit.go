package dnsserver

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// RateLimit bounds the answers that UDP clients get, so that queries with a forged source do not turn the server against a victim. Clients
// are counted by prefix, and apart for each name, zone of negative answers, delegation, and for errors. A client may get one second's
// answers at once.
type RateLimit struct {
	// ResponsesPerSecond limits equal answers to one prefix, 1–30000. 0 = no limit at all.
	ResponsesPerSecond int
	// ErrorsPerSecond limits errors (REFUSED, FORMERR, SERVFAIL and others) to one prefix, 1–30000. 0 = ResponsesPerSecond.
	ErrorsPerSecond int
	// Slip sends every so many-th answer over the limit truncated, so that a true client asks again over TCP, 1–15. 0 = none.
	Slip int
	// IPv4Prefix and IPv6Prefix are the bits by which clients are counted together, 1–32 and 1–64. 0 = 24 and 56.
	IPv4Prefix, IPv6Prefix int
	// TableSize is how many counts are kept, 8 bytes each, rounded up to a power of two. 0 = 524288.
	TableSize int
	// Exempt clients are not limited.
	Exempt []netip.Prefix
	// LogOnly counts and logs, and sends every answer.
	LogOnly bool
}

// withDefaults fills in what was left zero, and copies what the caller could change.
func (o RateLimit) withDefaults() RateLimit {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.ErrorsPerSecond, o.ResponsesPerSecond)
	def(&o.IPv4Prefix, 24)
	def(&o.IPv6Prefix, 56)
	def(&o.TableSize, 1<<19)
	o.Exempt = slices.Clone(o.Exempt)
	return o
}

// clockStep is how far the limiter's clock advances at a time.
const clockStep = 50 * time.Millisecond

// rateLimiter holds the counts of one RateLimit. All its parts but the clock and the log of prefixes belong to any number of Responders
// at the same time.
type rateLimiter struct {
	options RateLimit
	now     atomic.Int64 // nanoseconds since some time before; no packet asks the system for it
	cost    int64        // nanoseconds that one answer takes from its bucket
	errCost int64        // and one error
	seed    maphash.Seed
	table   bucketTable
	active  activePrefixes
	stopped chan struct{}
	running sync.WaitGroup
}

func newRateLimiter(o RateLimit, log *zap.Logger) *rateLimiter {
	o = o.withDefaults()
	return &rateLimiter{
		options: o,
		cost:    int64(second) / int64(o.ResponsesPerSecond),
		errCost: int64(second) / int64(o.ErrorsPerSecond),
		seed:    maphash.MakeSeed(),
		table:   newBucketTable(o.TableSize),
		active:  activePrefixes{log: log, bits4: o.IPv4Prefix, bits6: o.IPv6Prefix, logOnly: o.LogOnly},
		stopped: make(chan struct{}),
	}
}

// start lets the clock run; a nil limiter has none.
func (l *rateLimiter) start() {
	if l != nil {
		l.running.Go(l.run)
	}
}

// stop ends the clock's goroutine. It is called once.
func (l *rateLimiter) stop() {
	if l != nil {
		close(l.stopped)
		l.running.Wait()
	}
}

// run advances the clock and tells the log which prefixes are limited.
func (l *rateLimiter) run() {
	begin, tick := time.Now(), time.NewTicker(clockStep)
	defer tick.Stop()
	for {
		select {
		case <-l.stopped:
			l.active.endAll(l.now.Load())
			return
		case <-tick.C:
			l.advance(int64(time.Since(begin)))
		}
	}
}

// advance sets the clock.
func (l *rateLimiter) advance(now int64) {
	l.now.Store(now)
	l.active.sweep(now)
}

// exempt tells whether a client is never limited.
func (l *rateLimiter) exempt(client netip.Addr) bool {
	for i := range l.options.Exempt {
		if l.options.Exempt[i].Contains(client) {
			return true
		}
	}
	return false
}

// hash gives the key of a bucket: whom the answer goes to, its class, and what it is about. Its seed is not to be guessed, so nobody can
// choose whose bucket to share.
func (l *rateLimiter) hash(prefix uint64, class byte, about []byte) uint64 {
	var key [17]byte
	binary.LittleEndian.PutUint64(key[:], prefix)
	binary.LittleEndian.PutUint64(key[8:], maphash.Bytes(l.seed, about))
	key[16] = class
	return maphash.Bytes(l.seed, key[:])
}

// SetRateLimit replaces the limit on the answers over UDP, at any time. The counts begin anew, unless nothing changed.
func (s *Server) SetRateLimit(o RateLimit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.limiter.Load()
	var l *rateLimiter
	if o.ResponsesPerSecond > 0 {
		if old != nil && reflect.DeepEqual(old.options, o.withDefaults()) {
			return
		}
		l = newRateLimiter(o, s.opts.Log)
	}
	if s.stopped {
		return
	}
	if s.started {
		l.start()
	}
	s.limiter.Store(l)
	old.stop()
}

// stopRateLimit ends the clock of a server that answers no more.
func (s *Server) stopRateLimit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		s.limiter.Swap(nil).stop()
	}
}
