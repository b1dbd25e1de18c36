package dnsserver

import (
	"gslbd/dnsserver/wire"
)

// unusual replies to a well-formed query that no zone answers: another opcode, class or type than those of ordinary data. It gives what
// the reply counts as.
func (r *Responder) unusual(set *settings) int {
	q, h := r.query, &r.reply.Header
	h.RCode = wire.Refused
	switch {
	case q.Opcode() != wire.OpQuery:
	case q.End == wire.HeaderSize:
		return r.cookieOnly()
	case q.Class == wire.ClassCH && q.Type == wire.TypeTXT:
		if text := set.chaos(q.Name.Wire); text != "" {
			r.reply.Msg = appendText(r.reply.Msg, text)
			h.RCode, h.AA, h.Answer = wire.NoError, true, 1
			return countChaos
		}
	case q.Class != wire.ClassIN, q.Type == wire.TypeANY:
		h.ExtendedError = wire.NotSupported
	default: // AXFR, IXFR
		h.ExtendedError = wire.Prohibited
	}
	return countRefused
}

// cookieOnly replies to a query without a question: whether its server cookie is good (RFC 7873 section 5.4).
func (r *Responder) cookieOnly() int {
	e, h := &r.query.EDNS, &r.reply.Header
	switch {
	case e.Has&wire.HasCookie == 0: // they are switched off
		h.RCode = wire.Formerr
		return countFormErr
	case r.validCookie, len(e.Cookie) == wire.ClientCookie:
		h.RCode = wire.NoError
	default:
		h.RCode = wire.WrongCookie
	}
	return countCookieOnly
}

// chaos gives the text for a name of class CHAOS in lower-case wire form, "" for none.
func (s *settings) chaos(name []byte) string {
	switch string(name) {
	case "\x07version\x04bind\x00", "\x07version\x06server\x00":
		return s.Version
	case "\x08hostname\x04bind\x00":
		return s.Hostname
	case "\x02id\x06server\x00":
		return s.ID
	}
	return ""
}

// appendText appends a TXT record of class CHAOS, TTL 0, that belongs to the question.
func appendText(msg []byte, text string) []byte {
	n := min(len(text), 255)
	msg = append(msg, 0xc0, wire.HeaderSize, 0, wire.TypeTXT, 0, wire.ClassCH, 0, 0, 0, 0, byte((1+n)>>8), byte(1+n), byte(n))
	return append(msg, text[:n]...)
}
