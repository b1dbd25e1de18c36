package config

import (
	"path/filepath"
	"strings"
	"testing"

	"gslbd/health/probe"

	"github.com/google/go-cmp/cmp"
)

func TestCheckTLS(t *testing.T) {
	dir := t.TempDir()
	cert := filepath.Join(dir, "ca.pem")
	keyPair(t, cert, filepath.Join(dir, "key.pem"))
	for options, want := range map[string]probe.TLS{
		"":                       {Port: 443, Verify: true},
		"port: 8443":             {Port: 8443, Verify: true},
		"sni: www.example.com.":  {Port: 443, Verify: true, SNI: "www.example.com"},
		"verify: false":          {Port: 443},
		"ca_file: " + cert:       {Port: 443, Verify: true, CAFile: cert},
		"min_days: 14":           {Port: 443, Verify: true, MinDays: 14},
		"min_days: 0, port: 1":   {Port: 1, Verify: true},
		`sni: "2001:db8::1"`:     {Port: 443, Verify: true, SNI: "2001:db8::1"},
		"verify: false, sni: ab": {Port: 443, SNI: "ab"},
	} {
		got := loadCheck(t, "type: tls, "+options)
		if diff := cmp.Diff(&want, got.TLS); diff != "" || got.HTTP != nil {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
	}
	_, problems := Load(write(t, oneZone+"checks:\n  c: { type: tls, verify: false, ca_file: "+cert+" }\n"))
	if len(problems) != 1 || !strings.HasSuffix(problems.Error(), "warning: checks.c.ca_file: has no effect, since verify is false\n  hint: verify: true") {
		t.Errorf("got %v", problems)
	}
}

func TestCheckUDP(t *testing.T) {
	for options, want := range map[string]probe.UDP{
		"":                                  {Port: 80},
		"port: 65535":                       {Port: 65535},
		`send: ""`:                          {Port: 80, Send: []byte{}},
		`send: "PING\r\n", expect: 1`:       {Port: 80, Send: []byte("PING\r\n"), Expect: []byte("1")},
		`send: "hex:00 ff"`:                 {Port: 80, Send: []byte{0, 0xff}},
		`expect: "HEX:00"`:                  {Port: 80, Expect: []byte("HEX:00")},
		"send: " + strings.Repeat("é", 500): {Port: 80, Send: []byte(strings.Repeat("é", 500))},
		`expect: "hex:` + strings.Repeat("61", 500) + `"`: {Port: 80, Expect: []byte(strings.Repeat("a", 500))},
	} {
		got := loadCheck(t, "type: udp, "+options)
		if diff := cmp.Diff(&want, got.UDP); diff != "" || got.TCP != nil {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
	}
}

func TestCheckDNS(t *testing.T) {
	for options, want := range map[string]probe.DNS{
		"":                               {Port: 53, QType: 1},
		"port: 5353, transport: TCP":     {Port: 5353, QType: 1, TCP: true},
		"transport: udp":                 {Port: 53, QType: 1},
		"qname: www.example.com.":        {Port: 53, QType: 1, QName: "www.example.com"},
		`qname: ".", qtype: ns`:          {Port: 53, QType: 2, QName: "."},
		"qname: _sip._tcp.example.com":   {Port: 53, QType: 1, QName: "_sip._tcp.example.com"},
		"qtype: TYPE65280":               {Port: 53, QType: 65280},
		"rcode: nxdomain":                {Port: 53, QType: 1, RCode: 3},
		"rcode: NOTZONE":                 {Port: 53, QType: 1, RCode: 10},
		"expect: 192.0.2.1":              {Port: 53, QType: 1, Expect: []string{"192.0.2.1"}},
		"expect: [ 192.0.2.1 ]":          {Port: 53, QType: 1, Expect: []string{"192.0.2.1"}},
		`expect: [ "::1" ], qtype: AAAA`: {Port: 53, QType: 28, Expect: []string{"::1"}},
		`expect: "a, b c", qtype: TXT`:   {Port: 53, QType: 16, Expect: []string{"a, b c"}},
	} {
		got := loadCheck(t, "type: dns, "+options)
		if diff := cmp.Diff(&want, got.DNS); diff != "" {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
	}
	// A bad type is one mistake, not two.
	got := faults(t, oneZone+"checks:\n  c: { type: dns, qtype: XX1, expect: mail.example.com }\n")
	if strings.Count(got, "hint:") != 1 {
		t.Errorf("got %s", got)
	}
}

// TestDatagramBounds counts text in characters and hexadecimal digits in bytes.
func TestDatagramBounds(t *testing.T) {
	for _, test := range []struct{ typ, value, want string }{
		{"udp", strings.Repeat("a", 500), ""},
		{"udp", strings.Repeat("€", 500), ""},
		{"udp", strings.Repeat("€", 501), "501 characters are too long\n  hint: at most 500 characters"},
		{"udp", "hex:" + strings.Repeat("00 ", 500), ""},
		{"udp", "hex:" + strings.Repeat("00", 501), "501 bytes are too long\n  hint: at most 500 bytes"},
		{"udp", "hex:", ""},
		{"udp", "hex:0", `"0" is not hexadecimal` + "\n  hint: " + `pairs of hexadecimal digits, as in "hex:0d0a"`},
		{"tcp", strings.Repeat("a", 4096), ""},
		{"tcp", strings.Repeat("€", 1366), "4098 bytes are too long\n  hint: at most 4096 bytes"},
		{"tcp", "hex:" + strings.Repeat("ff", 4096), ""},
		{"tcp", "hex:" + strings.Repeat("ff", 4097), "4097 bytes are too long\n  hint: at most 4096 bytes"},
	} {
		for _, option := range []string{"send", "expect"} {
			want := test.want
			if want != "" {
				want = "f:3: checks.c." + option + ": " + want
			}
			got := faults(t, oneZone+"checks:\n  c: { type: "+test.typ+", "+option+`: "`+test.value+"\" }\n")
			if got != want {
				t.Errorf("%s.%s of %d bytes: got %q, want %q", test.typ, option, len(test.value), got, want)
			}
		}
	}
}
