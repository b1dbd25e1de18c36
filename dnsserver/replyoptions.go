package dnsserver

import (
	"net/netip"

	"gslbd/dnsserver/wire"
)

// paddedTo is the multiple of octets to which padded replies are filled up (RFC 8467 section 4.1).
const paddedTo = 468

// readOptions begins r.options for the options of the query: what a client needs for its next query or to take this reply for its own,
// for which records make room. It reports false when one is malformed; the reply then has none.
func (r *Responder) readOptions(set *settings, client netip.Addr, transport Transport) bool {
	e := &r.query.EDNS
	e.Has &^= set.ignored
	if transport == UDP {
		e.Has &^= wire.HasKeepalive | wire.BadKeepalive // RFC 7828 section 3.3.1
	}
	if transport != TLS {
		e.Has &^= wire.HasPadding // where everyone can read the reply, its length is no secret (RFC 7830 section 6)
	}
	if e.Has&(wire.BadCookie|wire.BadSubnet|wire.BadKeepalive) != 0 {
		e.Has = 0
		return false
	}
	if e.Has&wire.HasCookie != 0 {
		r.options, r.validCookie = set.keys.appendCookie(r.options, e.Cookie, client, r.shared.now.Load())
	}
	if e.Has&wire.HasSubnet != 0 {
		r.options = wire.AppendSubnet(r.options, e)
	}
	if e.Has&wire.HasKeepalive != 0 {
		tenths := r.shared.keepalive.Load()
		r.options = wire.AppendOption(r.options, wire.OptionKeepalive, []byte{byte(tenths >> 8), byte(tenths)})
	}
	return true
}

// fillOptions adds the options that take what room the records have left: a reply of limit octets is never cut for their sake.
func (r *Responder) fillOptions(set *settings, limit int) {
	used := len(r.reply.Msg) + r.query.OptSize() + r.reply.Header.ErrorSize()
	if r.query.EDNS.Has&wire.HasNSID != 0 && used+len(r.options)+wire.OptionHead+len(set.nsid) <= limit {
		r.options = wire.AppendOption(r.options, wire.OptionNSID, set.nsid)
	}
	if r.query.EDNS.Has&wire.HasPadding != 0 {
		used += len(r.options) + wire.OptionHead
		if n := (paddedTo - used%paddedTo) % paddedTo; used+n <= limit {
			r.options = wire.AppendPadding(r.options, n)
		}
	}
}
