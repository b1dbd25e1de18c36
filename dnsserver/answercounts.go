package dnsserver

import (
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

func (c *AnswerCounts) add(kind int) { c.n[kind].Add(1) }

// Outcomes says how often each kind of answer was given. The last four count
// some of the others again; everything else adds up to the packets received.
type Outcomes struct {
	Positive, NoData, NXDomain, Referral, Refused, ServFail, YXDomain uint64
	FormErr, NotImp, BadVers                                          uint64
	Chaos                                                             uint64 // texts of class CHAOS
	CookieOnly                                                        uint64 // queries without a question, for a cookie
	Dropped                                                           uint64 // no reply: too short, or itself a reply
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
