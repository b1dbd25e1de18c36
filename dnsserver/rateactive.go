package dnsserver

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	activeSize  = 64 // prefixes that are known by name at the same time; those beyond are limited all the same
	activeTries = 4  // places that one may stand in
	activeQuiet = time.Minute
)

// activePrefixes are those that are being limited, for the log: a line when it begins, one when a prefix was within its limits for a
// minute. So whatever the traffic, there are at most 128 lines a minute.
type activePrefixes struct {
	log          *zap.Logger
	bits4, bits6 int
	logOnly      bool
	places       [activeSize]activePrefix
}

// activePrefix is one of them.
type activePrefix struct {
	key   atomic.Uint64 // as prefix gives it; 0 = free
	last  atomic.Int64  // when an answer was over the limit
	count atomic.Uint64 // of such answers

	begun int64 // belongs to sweep: when the log was told
	told  bool
}

// mark4 sets the keys of IPv4 prefixes apart: no IPv6 client has an address in 0:2::/32.
const mark4 = 2 << 32

// prefix gives the prefix of a client as a number other than 0.
func (a *activePrefixes) prefix(client netip.Addr) uint64 {
	if client.Is4() {
		b := client.As4()
		return mark4 | uint64(binary.BigEndian.Uint32(b[:])>>(32-a.bits4)<<(32-a.bits4))
	}
	b := client.As16()
	return binary.BigEndian.Uint64(b[:])>>(64-a.bits6)<<(64-a.bits6) + 1
}

// named is the reverse of prefix.
func (a *activePrefixes) named(key uint64) netip.Prefix {
	if key>>32 == mark4>>32 {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(key))
		return netip.PrefixFrom(netip.AddrFrom4(b), a.bits4)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], key-1)
	return netip.PrefixFrom(netip.AddrFrom16(b), a.bits6)
}

// note notes that an answer to a prefix was over the limit.
func (a *activePrefixes) note(key uint64, now int64) {
	home := key * 0x9e3779b97f4a7c15 >> 32
	for i := range uint64(2 * activeTries) { // first those places that it may have, then those that are free
		p := &a.places[(home+i%activeTries)%activeSize]
		if p.key.Load() == key || i >= activeTries && (p.key.CompareAndSwap(0, key) || p.key.Load() == key) { // the last: another was faster
			p.count.Add(1)
			p.last.Store(now)
			return
		}
	}
}

// sweep tells the log what changed. One goroutine calls it.
func (a *activePrefixes) sweep(now int64) {
	for i := range a.places {
		p := &a.places[i]
		switch key := p.key.Load(); {
		case key == 0 || p.count.Load() == 0: // the second: somebody is about to count
		case !p.told:
			p.begun, p.told = now, true
			a.log.Warn("rate limiting began", zap.Stringer("prefix", a.named(key)), zap.Bool("log_only", a.logOnly))
		case now-p.last.Load() >= int64(activeQuiet):
			a.end(p, p.last.Load())
		}
	}
}

// end tells that a prefix is within its limits, and gives its place free.
func (a *activePrefixes) end(p *activePrefix, last int64) {
	a.log.Info("rate limiting ended", zap.Stringer("prefix", a.named(p.key.Load())), zap.Bool("log_only", a.logOnly),
		zap.Uint64("answers_over_limit", p.count.Swap(0)), zap.Duration("lasted", time.Duration(max(0, last-p.begun))))
	p.told = false
	p.key.Store(0)
}

// endAll ends them all, where nothing more will be limited.
func (a *activePrefixes) endAll(now int64) {
	a.sweep(now) // some may have begun just now
	for i := range a.places {
		if p := &a.places[i]; p.told {
			a.end(p, now)
		}
	}
}
