package config

import (
	"encoding/hex"
	"fmt"
	"strings"

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

// payload stores bytes: the text as it stands, or hexadecimal digits after hex:.
func payload(dst *[]byte) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "text")
		if !ok {
			return
		}
		data := []byte(s)
		if digits, isHex := strings.CutPrefix(s, "hex:"); isHex {
			var err error
			if data, err = hex.DecodeString(strings.Join(strings.Fields(digits), "")); err != nil {
				r.fail(f, `pairs of hexadecimal digits, as in "hex:0d0a"`, "%s is not hexadecimal", quote(digits))
				return
			}
		}
		if len(data) > maxPayload {
			r.fail(f, fmt.Sprintf("at most %d bytes", maxPayload), "%d bytes are too long", len(data))
			return
		}
		*dst = data
	}
}
