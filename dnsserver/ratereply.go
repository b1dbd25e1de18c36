package dnsserver

import (
	"net/netip"

	"gslbd/dnsserver/answer"
	"gslbd/dnsserver/wire"
)

// Classes of answers for rate limiting, beside the kinds of answers.
const (
	classError = byte(answer.Kinds) + iota // of any sort, whatever was asked
	classMade                              // from a wildcard or a DNAME
)

// limited gives what is sent in place of msg, the reply to a UDP query: msg itself, a truncated one, or nil for nothing. A client that
// holds a valid cookie has shown that its address is its own (RFC 7873 section 5.2.5). What slips has neither records nor options that others
// could ask for in a victim's name: it is hardly longer than its query.
func (r *Responder) limited(l *rateLimiter, msg []byte, client netip.Addr, cookie bool) []byte {
	if cookie || l.exempt(client) {
		return msg
	}
	class, about := r.class(msg)
	cost := l.cost
	if class == classError {
		cost = l.errCost
	}
	now, prefix := l.now.Load(), l.active.prefix(client)
	over, slips := l.table.take(l.hash(prefix, class, about), now, cost, l.options.Slip)
	if !over {
		return msg
	}
	l.active.note(prefix, now)
	switch {
	case l.options.LogOnly:
		r.pending.add(countSpared)
		return msg
	case !slips:
		r.pending.add(countLimited)
		return nil
	}
	r.pending.add(countSlipped)
	if len(msg) == wire.HeaderSize {
		return msg
	}
	h := wire.Header{TC: true}
	if class == classError { // over TCP it would be no better, unless it has records
		whole := &r.reply.Header
		h = wire.Header{RCode: whole.RCode, ExtendedError: whole.ExtendedError, TC: whole.Answer > 0}
	}
	return wire.Close(msg[:r.query.End], &r.query.Query, &h, r.shared.settings.Load().udpSize, r.cookie())
}

// cookie gives the COOKIE option of the reply, none if it has none. With it a client is never limited again.
func (r *Responder) cookie() []byte {
	if r.query.EDNS.Has&wire.HasCookie == 0 {
		return nil
	}
	return r.options[:cookieSize]
}

// class tells what an answer is counted as, and the name that it is about. A client can make up any number of names, but not of these.
func (r *Responder) class(msg []byte) (class byte, about []byte) {
	switch rcode := uint16(msg[3] & 15); { // a reply of a header alone leaves r.reply as it was
	case rcode != wire.NoError && rcode != wire.NXDomain, r.reply.Header.RCode != rcode,
		r.query.Class != wire.ClassIN, r.query.End == wire.HeaderSize: // nor do those that no zone answers
		return classError, nil
	}
	name, source := &r.query.Name, r.reply.Source()
	class = byte(r.reply.Kind)
	if r.reply.Kind == answer.Positive && source > 0 {
		class = classMade
	}
	return class, name.Wire[source:]
}
