package dnsserver

import (
	"math/bits"
	"sync/atomic"

	"gslbd/dnsserver/answer"
)

// What is counted beside the kinds of answers, which come first.
const (
	countRefused = int(answer.Refused)
	countFormErr = answer.Kinds + iota - 1
	countNotImp
	countBadVers
	countChaos
	countCookieOnly
	countDropped
	countTruncated
	countLimited
	countSlipped
	countSpared
	counts
)

// AnswerCounts count what Responders do. The zero value is ready; any number
// of Responders may share one, but each adds faster to its own.
type AnswerCounts struct {
	n [counts]atomic.Uint64
	_ [64]byte // keeps two of them off one cache line
}

// pending are counts that are not in AnswerCounts yet: atomic operations once
// for a batch cost less than for each answer.
type pending struct {
	n    [counts]uint32
	seen uint32 // a bit for each that is not zero
}

const _ = uint32(1) << (counts - 1) // compiles as long as there are bits enough

func (p *pending) add(kind int) {
	p.n[kind]++
	p.seen |= 1 << kind
}

// move adds the counts to c and begins anew.
func (p *pending) move(c *AnswerCounts) {
	for ; p.seen != 0; p.seen &= p.seen - 1 {
		kind := bits.TrailingZeros32(p.seen)
		c.n[kind].Add(uint64(p.n[kind]))
		p.n[kind] = 0
	}
}

// Outcomes says how often each kind of answer was given. The last four count
// some of the others again; everything else adds up to the packets received.
type Outcomes struct {
	Positive, NoData, NXDomain, Referral, Refused, ServFail, YXDomain uint64
	FormErr, NotImp, BadVers                                          uint64
	Chaos                                                             uint64 // texts of class CHAOS
	CookieOnly                                                        uint64 // queries without a question, for a cookie
	Dropped                                                           uint64 // no reply: too short, too long for UDP, or itself a reply
	Truncated                                                         uint64
	Limited                                                           uint64 // over the rate limit, not sent
	Slipped                                                           uint64 // over the rate limit, sent without records: truncated, or an error
	Spared                                                            uint64 // over the rate limit, sent whole all the same (RateLimit.LogOnly)
}

// AddTo sums the counts into o. It may be called at any time.
func (c *AnswerCounts) AddTo(o *Outcomes) {
	for i, sum := range [counts]*uint64{
		answer.Positive: &o.Positive,
		answer.NoData:   &o.NoData,
		answer.NXDomain: &o.NXDomain,
		answer.Referral: &o.Referral,
		answer.Refused:  &o.Refused,
		answer.Failed:   &o.ServFail,
		answer.TooLong:  &o.YXDomain,
		countFormErr:    &o.FormErr,
		countNotImp:     &o.NotImp,
		countBadVers:    &o.BadVers,
		countChaos:      &o.Chaos,
		countCookieOnly: &o.CookieOnly,
		countDropped:    &o.Dropped,
		countTruncated:  &o.Truncated,
		countLimited:    &o.Limited,
		countSlipped:    &o.Slipped,
		countSpared:     &o.Spared,
	} {
		*sum += c.n[i].Load()
	}
}
