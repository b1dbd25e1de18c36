package wire

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// Options of EDNS that replies carry, by code.
const (
	OptionNSID      = 3  // RFC 5001
	OptionSubnet    = 8  // RFC 7871
	OptionCookie    = 10 // RFC 7873
	OptionKeepalive = 11 // RFC 7828
	OptionPadding   = 12 // RFC 7830
	OptionError     = 15 // RFC 8914
)

// OptionHead is the length of an option before its data, in bytes.
const OptionHead = 4

// Lengths of the COOKIE option, in bytes (RFC 7873 §4): a client cookie, and
// behind it a server cookie or none. Those that RFC 9018 makes have 16.
const (
	ClientCookie    = 8
	minServerCookie = 8
	maxServerCookie = 32
)

// OptionSet is a set of options that a query has. Each is read where it stands
// for the first time; options that are not listed here are passed over.
type OptionSet uint8

// What an OptionSet tells.
const (
	HasNSID      OptionSet = 1 << iota
	HasCookie              // EDNS.Cookie is valid
	BadCookie              // a COOKIE whose length no cookie has
	HasSubnet              // EDNS.Subnet is valid
	BadSubnet              // a malformed client subnet
	HasKeepalive           // without data, as clients send it
	BadKeepalive           // with data, which only servers send
	HasPadding
)

// option notes one option: its head and data.
func (e *EDNS) option(option []byte) {
	data := option[OptionHead:]
	switch binary.BigEndian.Uint16(option) {
	case OptionNSID:
		e.Has |= HasNSID
	case OptionCookie:
		if e.Has&(HasCookie|BadCookie) == 0 {
			e.Has |= BadCookie
			if n := len(data) - ClientCookie; n == 0 || n >= minServerCookie && n <= maxServerCookie {
				e.Has ^= HasCookie | BadCookie
				e.Cookie = data
			}
		}
	case OptionSubnet:
		if e.Has&(HasSubnet|BadSubnet) == 0 {
			e.Has |= BadSubnet
			if prefix, ok := readSubnet(data); ok {
				e.Has ^= HasSubnet | BadSubnet
				e.Subnet, e.subnet = prefix, data
			}
		}
	case OptionKeepalive:
		if e.Has&(HasKeepalive|BadKeepalive) == 0 {
			e.Has |= HasKeepalive
			if len(data) > 0 {
				e.Has ^= HasKeepalive | BadKeepalive
			}
		}
	case OptionPadding:
		e.Has |= HasPadding
	}
}

// readSubnet reads family, source and scope prefix length, and as many bytes of
// the address as the source prefix needs, the bits beyond it 0 (RFC 7871 §6).
// Family 0 with nothing else is how dig says "tell nobody where I am".
func readSubnet(data []byte) (prefix netip.Prefix, ok bool) {
	if len(data) < 4 || data[3] != 0 {
		return prefix, false
	}
	bits, address := int(data[2]), data[4:]
	if len(address) != (bits+7)/8 || bits%8 != 0 && address[len(address)-1]<<(bits%8) != 0 {
		return prefix, false
	}
	switch family := binary.BigEndian.Uint16(data); {
	case family == 0 && bits == 0:
		return prefix, true
	case family == 1 && bits <= 32:
		var b [4]byte
		copy(b[:], address)
		return netip.PrefixFrom(netip.AddrFrom4(b), bits), true
	case family == 2 && bits <= 128:
		var b [16]byte
		copy(b[:], address)
		return netip.PrefixFrom(netip.AddrFrom16(b), bits), true
	}
	return prefix, false
}

// AppendOption appends an option with its data, at most 65,535 bytes.
func AppendOption(options []byte, code uint16, data []byte) []byte {
	options = binary.BigEndian.AppendUint16(options, code)
	options = binary.BigEndian.AppendUint16(options, uint16(len(data)))
	return append(options, data...)
}

// AppendSubnet appends the client subnet of a query that has one, with scope 0:
// the answer is good for every client (RFC 7871 §7.2.1).
func AppendSubnet(options []byte, e *EDNS) []byte {
	return AppendOption(options, OptionSubnet, e.subnet)
}

// AppendPadding appends an option with n bytes of padding, all 0 (RFC 7830 §3).
func AppendPadding(options []byte, n int) []byte {
	options = binary.BigEndian.AppendUint16(options, OptionPadding)
	options = binary.BigEndian.AppendUint16(options, uint16(n))
	at := len(options)
	options = slices.Grow(options, n)[:at+n]
	clear(options[at:])
	return options
}
