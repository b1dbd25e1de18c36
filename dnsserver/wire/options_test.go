package wire

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
)

// withOptions is a query for the question, or for nothing, with options.
func withOptions(question string, options ...string) []byte {
	all := strings.Join(options, "")
	questions := byte(1)
	if question == "" {
		questions = 0
	}
	length := string(binary.BigEndian.AppendUint16(nil, uint16(len(all))))
	return []byte(header(questions, 0, 0, 1) + question + opt[:9] + length + all)
}

// encoded is one option.
func encoded(code byte, data string) string {
	return "\x00" + string(code) + string(binary.BigEndian.AppendUint16(nil, uint16(len(data)))) + data
}

func TestOptions(t *testing.T) {
	client, server := "abcdefgh", "0123456789abcdef"
	for _, c := range []struct {
		name    string
		options []string
		want    OptionSet
		cookie  string
	}{
		{"none", nil, 0, ""},
		{"unknown", []string{encoded(14, "x"), encoded(127, ""), "\xff\xff\x00\x01x"}, 0, ""},
		{"code of two bytes", []string{"\x01\x03\x00\x00", "\x01\x0a\x00\x08abcdefgh"}, 0, ""},
		{"nsid", []string{encoded(3, "")}, HasNSID, ""},
		{"nsid with data", []string{encoded(3, "x")}, HasNSID, ""},
		{"padding", []string{encoded(12, strings.Repeat("x", 300))}, HasPadding, ""},
		{"keepalive", []string{encoded(11, "")}, HasKeepalive, ""},
		{"keepalive with time", []string{encoded(11, "\x00\x01"), encoded(11, "")}, BadKeepalive, ""},
		{"client cookie", []string{encoded(10, client)}, HasCookie, client},
		{"server cookie", []string{encoded(10, client+server)}, HasCookie, client + server},
		{"shortest server cookie", []string{encoded(10, client+client)}, HasCookie, client + client},
		{"longest server cookie", []string{encoded(10, client+server+server)}, HasCookie, client + server + server},
		{"first of two cookies", []string{encoded(10, client), encoded(10, server), encoded(10, "")}, HasCookie, client},
		{"empty cookie", []string{encoded(10, "")}, BadCookie, ""},
		{"cookie of 7", []string{encoded(10, client[1:])}, BadCookie, ""},
		{"cookie of 9", []string{encoded(10, client+"x")}, BadCookie, ""},
		{"cookie of 15", []string{encoded(10, client+client[1:])}, BadCookie, ""},
		{"cookie of 41", []string{encoded(10, client+server+server+"x"), encoded(10, client)}, BadCookie, ""},
		{"all", []string{encoded(3, ""), encoded(10, client), encoded(11, ""), encoded(12, ""), encoded(8, "\x00\x01\x00\x00")},
			HasNSID | HasCookie | HasKeepalive | HasPadding | HasSubnet, client},
	} {
		var q Query
		q.EDNS.Cookie = []byte("of an earlier query")
		if Parse(withOptions(question, c.options...), &q) != OK || q.EDNS.Has != c.want {
			t.Errorf("%s: %b, want %b", c.name, q.EDNS.Has, c.want)
		}
		if c.want&HasCookie != 0 && string(q.EDNS.Cookie) != c.cookie {
			t.Errorf("%s: cookie %q", c.name, q.EDNS.Cookie)
		}
	}
}

func TestSubnet(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"\x00\x01\x18\x00\xc0\x00\x02", "192.0.2.0/24"},
		{"\x00\x01\x20\x00\xc0\x00\x02\x01", "192.0.2.1/32"},
		{"\x00\x01\x00\x00", "0.0.0.0/0"},
		{"\x00\x01\x09\x00\x0a\x80", "10.128.0.0/9"},
		{"\x00\x02\x38\x00\x20\x01\x0d\xb8\x00\x01\x02", "2001:db8:1:200::/56"},
		{"\x00\x02\x80\x00\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", "2001:db8::1/128"},
		{"\x00\x02\x00\x00", "::/0"},
		{"\x00\x00\x00\x00", "invalid Prefix"},

		{"", "bad"},
		{"\x00\x01\x00", "bad"},
		{"\x00\x01\x18\x01\xc0\x00\x02", "bad"},     // scope
		{"\x00\x01\x18\x00\xc0\x00", "bad"},         // address too short
		{"\x00\x01\x18\x00\xc0\x00\x02\x00", "bad"}, // too long
		{"\x00\x01\x08\x00", "bad"},                 // none
		{"\x00\x01\x17\x00\xc0\x00\x03", "bad"},     // a bit beyond the prefix
		{"\x00\x01\x09\x00\x0a\xc0", "bad"},
		{"\x00\x01\x21\x00\xc0\x00\x02\x01\x00", "bad"}, // longer than an address
		{"\x00\x02\x81\x00" + strings.Repeat("\x00", 17), "bad"},
		{"\x00\x00\x08\x00\x0a", "bad"}, // no family, yet an address
		{"\x00\x03\x08\x00\x0a", "bad"}, // no such family
		{"\x01\x01\x00\x00", "bad"},
	} {
		var q Query
		q.EDNS.Subnet = netip.MustParsePrefix("203.0.113.0/24")
		if Parse(withOptions(question, encoded(8, c.data)), &q) != OK {
			t.Fatalf("%q: not OK", c.data)
		}
		if c.want == "bad" {
			if q.EDNS.Has != BadSubnet {
				t.Errorf("%q: %b, want bad", c.data, q.EDNS.Has)
			}
			continue
		}
		if q.EDNS.Has != HasSubnet || q.EDNS.Subnet.String() != c.want {
			t.Errorf("%q: %b, %v, want %s", c.data, q.EDNS.Has, q.EDNS.Subnet, c.want)
		}
		if got := string(AppendSubnet(nil, &q.EDNS)); got != encoded(8, c.data) {
			t.Errorf("%q: echoed as %q", c.data, got)
		}
	}
	var q Query
	Parse(withOptions(question, encoded(8, "\x00\x01\x00\x00"), encoded(8, "")), &q)
	if q.EDNS.Has != HasSubnet {
		t.Errorf("first of two subnets: %b", q.EDNS.Has)
	}
}

// TestCookieOnly reads queries without a question: they must have a cookie.
func TestCookieOnly(t *testing.T) {
	cookie := encoded(10, "abcdefgh")
	q := Query{Type: 1, Class: 1, End: 99}
	if Parse(withOptions("", cookie), &q) != OK || q.End != HeaderSize || q.Type != 0 || q.Class != 0 || string(q.Name.Wire) != "\x00" {
		t.Errorf("%+v", q)
	}
	notify := withOptions("", cookie)
	notify[2] = OpNotify << 3
	for name, packet := range map[string][]byte{
		"no cookie": withOptions("", encoded(3, "")), "bad cookie": withOptions("", encoded(10, "x")), "notify": notify,
		"a byte too many": append(withOptions("", cookie), 0), "no OPT": []byte(header(0, 0, 0, 0)),
	} {
		if got := Parse(packet, &q); got != FormErr {
			t.Errorf("%s: %d, want FormErr", name, got)
		}
	}
}
