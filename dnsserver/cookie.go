package dnsserver

import (
	"encoding/binary"
	"net/netip"

	"gslbd/dnsserver/wire"
)

const (
	serverCookie  = 16      // octets: version, three reserved, time, hash (RFC 9018 section 4)
	cookieVersion = 1       // the only one there is
	cookieLife    = 60 * 60 // seconds that a server cookie is good for (RFC 9018 section 4.3)
	cookieRenew   = 30 * 60 // seconds after which it is replaced
	cookieAhead   = -5 * 60 // how far it may be in our future: another server of the set made it
)

// cookieKeys make and check server cookies: the first makes, each one counts, so that secrets can be rolled over (RFC 9018 section 5).
type cookieKeys []sipKey

// appendCookie appends the COOKIE option for the one that a client sent: its client cookie, and a server cookie, which is the one sent
// if that is good and not soon to end, else a new one. valid tells whether the one sent is good.
func (k cookieKeys) appendCookie(options, sent []byte, client netip.Addr, now uint32) (_ []byte, valid bool) {
	valid, fresh := k.check(sent, client, now)
	if fresh {
		return wire.AppendOption(options, wire.OptionCookie, sent), valid
	}
	var made [wire.ClientCookie + serverCookie]byte
	copy(made[:], sent[:wire.ClientCookie])
	made[wire.ClientCookie] = cookieVersion
	binary.BigEndian.PutUint32(made[wire.ClientCookie+4:], now)
	binary.LittleEndian.PutUint64(made[wire.ClientCookie+8:], k[0].sign(made[:wire.ClientCookie+8], client))
	return wire.AppendOption(options, wire.OptionCookie, made[:]), valid
}

// check tells whether a client and server cookie were made for this client by one of the keys, and whether they need no renewal.
func (k cookieKeys) check(sent []byte, client netip.Addr, now uint32) (valid, fresh bool) {
	if len(sent) != wire.ClientCookie+serverCookie || sent[wire.ClientCookie] != cookieVersion {
		return false, false
	}
	age := int32(now - binary.BigEndian.Uint32(sent[wire.ClientCookie+4:])) // serial number arithmetic
	if age < cookieAhead || age > cookieLife {
		return false, false
	}
	hash := binary.LittleEndian.Uint64(sent[wire.ClientCookie+8:])
	for i, key := range k {
		if key.sign(sent[:wire.ClientCookie+8], client) == hash {
			return true, i == 0 && age <= cookieRenew
		}
	}
	return false, false
}

// sign gives the hash of a cookie up to its time and the client's address (RFC 9018 section 4.4). Reserved octets count as they are.
func (k sipKey) sign(cookie []byte, client netip.Addr) uint64 {
	var b [wire.ClientCookie + 8 + 16]byte
	n := copy(b[:], cookie)
	if client.Is4() {
		a := client.As4()
		n += copy(b[n:], a[:])
	} else {
		a := client.As16()
		n += copy(b[n:], a[:])
	}
	return k.hash(b[:n])
}
