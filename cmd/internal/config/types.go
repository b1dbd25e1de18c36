package config

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"gslbd/health/probe"
)

// maxPayload bounds what a probe sends and what it looks for.
const maxPayload = 4096

// icmpOptions is the table of type icmp.
func icmpOptions(c *probe.Check) []option {
	c.ICMP = &probe.ICMP{Count: 1, Size: 24}
	return []option{
		{name: "count", set: integer(&c.ICMP.Count, 1, 10)},
		{name: "size", set: integer(&c.ICMP.Size, 24, 1400)},
	}
}

// tcpOptions is the table of type tcp.
func tcpOptions(c *probe.Check) []option {
	c.TCP = &probe.TCP{Port: 80}
	return []option{
		{name: "port", set: port(&c.TCP.Port)},
		{name: "send", set: payload(&c.TCP.Send)},
		{name: "expect", set: payload(&c.TCP.Expect)},
	}
}

// tlsOptions is the table of type tls.
func tlsOptions(c *probe.Check) []option {
	c.TLS = &probe.TLS{Port: 443, Verify: true}
	return []option{
		{name: "port", set: port(&c.TLS.Port)},
		{name: "sni", set: hostName(&c.TLS.SNI)},
		{name: "verify", set: boolean(&c.TLS.Verify)},
		{name: "ca_file", set: path(&c.TLS.CAFile)},
		{name: "min_days", set: integer(&c.TLS.MinDays, 0, 3650)},
	}
}

// finishTLS opens the file of a check.
func finishTLS(r *reader, _ field, c *probe.Check, given map[string]field) {
	if at, ok := given["ca_file"]; ok && !c.TLS.Verify {
		r.warn(at, "verify: true", "has no effect, since verify is false")
	}
	r.authorities(c.TLS.CAFile, given)
}

// udpOptions is the table of type udp.
func udpOptions(c *probe.Check) []option {
	c.UDP = &probe.UDP{Port: 80}
	return []option{
		{name: "port", set: port(&c.UDP.Port)},
		{name: "send", set: datagram(&c.UDP.Send)},
		{name: "expect", set: datagram(&c.UDP.Expect)},
	}
}

// payload stores bytes of a stream.
func payload(dst *[]byte) setter {
	return func(r *reader, f field) {
		data, _, ok := r.bytes(f)
		switch {
		case !ok:
		case len(data) > maxPayload:
			r.fail(f, fmt.Sprintf("at most %d bytes", maxPayload), "%d bytes are too long", len(data))
		default:
			*dst = data
		}
	}
}

// maxDatagram bounds the text of a datagram in characters, and in bytes what
// is written in hexadecimal.
const maxDatagram = 500

// datagram stores the bytes of one.
func datagram(dst *[]byte) setter {
	return func(r *reader, f field) {
		data, isText, ok := r.bytes(f)
		n, unit := len(data), "bytes"
		if isText {
			n, unit = utf8.RuneCount(data), "characters"
		}
		switch {
		case !ok:
		case n > maxDatagram:
			r.fail(f, fmt.Sprintf("at most %d %s", maxDatagram, unit), "%d %s are too long", n, unit)
		default:
			*dst = data
		}
	}
}

// bytes reads the text as it stands, or hexadecimal digits after hex:.
func (r *reader) bytes(f field) (data []byte, isText, ok bool) {
	s, ok := r.scalar(f, "text")
	digits, isHex := strings.CutPrefix(s, "hex:")
	if !ok || !isHex {
		return []byte(s), true, ok
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil {
		r.fail(f, `pairs of hexadecimal digits, as in "hex:0d0a"`, "%s is not hexadecimal", quote(digits))
	}
	return data, false, err == nil
}
