package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeaders(t *testing.T) {
	for value, want := range map[string][][2]string{
		"{}":                                         nil,
		"~":                                          nil,
		"{ X-Probe: gslbd, accept: text/html }":      {{"X-Probe", "gslbd"}, {"accept", "text/html"}},
		"{ Accept: text/html, x-probe: gslbd }":      {{"Accept", "text/html"}, {"x-probe", "gslbd"}},
		"{ X: 1.10, Y: true, Z: 2026-11-29 }":        {{"X", "1.10"}, {"Y", "true"}, {"Z", "2026-11-29"}},
		`{ X: "  padded	" }`:                         {{"X", "padded"}},
		`{ X: "" }`:                                  {{"X", ""}},
		`{ X: "tab	inside" }`:                        {{"X", "tab	inside"}},
		`{ X: "é" }`:                                 {{"X", "é"}},
		"{ x.y: a, \"!#$%&'*+-.^_`|~\": b }":         {{"x.y", "a"}, {"!#$%&'*+-.^_`|~", "b"}},
		"{ Host: www.example.com }":                  {{"Host", "www.example.com"}},
		`{ HOST: "www.example.com:8080" }`:           {{"HOST", "www.example.com:8080"}},
		"{ Authorization: Bearer abc, Cookie: a=b }": {{"Authorization", "Bearer abc"}, {"Cookie", "a=b"}},
	} {
		var got [][2]string
		if fault := apply(t, value, headers(&got)); fault != "" {
			t.Errorf("%s: %s", value, fault)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", value, diff)
		}
	}
}

func TestHeaderFaults(t *testing.T) {
	const own = "this header is not for a check to set\n  hint: leave it out; the probe sends what the body needs"
	for value, want := range map[string]string{
		"[ a ]":                          "f:1: key: a list where a map of names and values belongs\n  hint: headers: { X-Probe: gslbd }",
		"text":                           "f:1: key: \"text\" where a map of keys belongs\n  hint: indent its keys below it",
		"{ Content-Length: 5 }":          "f:1: key.Content-Length: " + own,
		"{ transfer-encoding: chunked }": "f:1: key.transfer-encoding: " + own,
		`{ "": a }`:                      "f:1: key.\"\": \"\" is not a header name\n  hint: letters, digits and hyphens",
		`{ "a:": a }`:                    "f:1: key.a:: \"a:\" is not a header name\n  hint: letters, digits and hyphens",
		`{ "a\r\nb": c }`:                "f:1: key.\"a\\r\\nb\": \"a\\r\\nb\" is not a header name\n  hint: letters, digits and hyphens",
		`{ é: a }`:                       "f:1: key.\"é\": \"é\" is not a header name\n  hint: letters, digits and hyphens",
		`{ X: "a\0b" }`:                  "f:1: key.X: \"a\\x00b\" holds a control character\n  hint: one line of text",
		`{ X: "a\nY: b" }`:               "f:1: key.X: \"a\\nY: b\" holds a control character\n  hint: one line of text",
		`{ X: "\x7f" }`:                  "f:1: key.X: \"\\x7f\" holds a control character\n  hint: one line of text",
		`{ Host: "a/b" }`:                "f:1: key.Host: \"a/b\" is not a host name: more than a name\n  hint: the name alone; path and scheme have their own keys",
		"{ X: { a: b } }":                "f:1: key.X: a map where a header value belongs\n  hint: a single value, without brackets, braces or lines of its own",
		"{ X: " + strings.Repeat("x", maxPayload+1) + " }": "f:1: key.X: 4097 bytes are too long\n  hint: at most 4096 bytes",
	} {
		var got [][2]string
		fault := "f:1: key: " + apply(t, value, headers(&got))
		fault = strings.Replace(fault, "f:1: key: f:1: ", "f:1: ", 1)
		if fault != want {
			t.Errorf("%s: got %q, want %q", quote(value), fault, want)
		}
	}
}

func TestHosts(t *testing.T) {
	const name, port = "\n  hint: the name alone; path and scheme have their own keys", "\n  hint: 1 to 65535"
	for _, test := range []struct{ value, withPort, withoutPort string }{
		{"www.example.com", "", ""},
		{"www.example.com.", "", ""},
		{"localhost", "", ""},
		{"my_host", "", ""},
		{"192.0.2.1", "", ""},
		{"2001:db8::1", "", ""},
		{"www.example.com:80", "", `"www.example.com:80" is not a host name: more than a name` + name},
		{"192.0.2.1:80", "", `"192.0.2.1:80" is not a host name: more than a name` + name},
		{"[2001:db8::1]:80", "", `"[2001:db8::1]:80" is not a host name: more than a name` + name},
		{"www.example.com:0", `"www.example.com:0": port "0" is out of range` + port, `"www.example.com:0" is not a host name: more than a name` + name},
		{"www.example.com:", `"www.example.com:": port "" is out of range` + port, `"www.example.com:" is not a host name: more than a name` + name},
		{":80", "\"\" is not a host name: it is empty\n  hint: a name such as www.example.com", `":80" is not a host name: more than a name` + name},
		{"http://a.example", `"http://a.example" is not a host name: more than a name` + name, `"http://a.example" is not a host name: more than a name` + name},
		{"*.example.com", "\"*.example.com\" is not a host name: a character that no such name holds\n  hint: letters, digits, hyphens and dots",
			"\"*.example.com\" is not a host name: a character that no such name holds\n  hint: letters, digits, hyphens and dots"},
	} {
		var got string
		if fault := apply(t, quote(test.value), hostPort(&got)); fault != test.withPort {
			t.Errorf("host %s: got %q, want %q", test.value, fault, test.withPort)
		}
		if fault := apply(t, quote(test.value), hostName(&got)); fault != test.withoutPort {
			t.Errorf("sni %s: got %q, want %q", test.value, fault, test.withoutPort)
		}
	}
}

func TestStatus(t *testing.T) {
	for text, want := range map[string]string{
		"2xx": "200-299", "1XX": "100-199", "5xx": "500-599", "301": "301-301", "100": "100-100", "599": "599-599",
		"200-399": "200-399", "200 - 204": "200-204", "404-404": "404-404",
		"": "", "0xx": "", "6xx": "", "2x": "", "2xxx": "", "20x": "", "99": "", "600": "", "399-200": "", "200-": "", "-200": "",
		"200-600": "", "ok": "", "2xx-3xx": "", "200-299-300": "", "٢٠٠": "",
	} {
		status, ok := parseStatus(text)
		got := ""
		if ok {
			got = fmt.Sprintf("%d-%d", status.Low, status.High)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestHTTPConflicts holds options that contradict each other, alone sound.
func TestHTTPConflicts(t *testing.T) {
	for options, want := range map[string]string{
		"expect_body: ok":                           "expect_body: a HEAD response has no body, so this can never match\n  hint: method: GET",
		"method: HEAD, expect_body_regex: ok":       "expect_body_regex: a HEAD response has no body, so this can never match\n  hint: method: GET",
		"body: x":                                   "body: a HEAD request has no body\n  hint: method: POST",
		"method: GET, body: x":                      "body: a GET request has no body\n  hint: method: POST",
		"host: a, headers: { Host: b }":             "headers.Host: the option host sets this header too\n  hint: keep one of them",
		"user_agent: a, headers: { User-Agent: b }": "headers.User-Agent: the option user_agent sets this header too\n  hint: keep one of them",
		"version: 2, headers: { Connection: close }": "headers.Connection: HTTP/2 does not allow this header (RFC 9113 section 8.2.2)\n" +
			"  hint: leave it out, or choose version 1.1",
		"version: 2, headers: { upgrade: h2c }": "headers.upgrade: HTTP/2 does not allow this header (RFC 9113 section 8.2.2)\n" +
			"  hint: leave it out, or choose version 1.1",
		"username: a":                         "username: username without password_file\n  hint: add password_file",
		"scheme: https, cert_file: /dev/null": "cert_file: cert_file without key_file\n  hint: add key_file",
		"scheme: https, ca_file: /dev/null": "ca_file: /dev/null: is not a regular file\n" +
			"  hint: relative paths start at the directory of the configuration file",
	} {
		want = "f:2: checks.c." + want
		if got := faults(t, oneZone+"checks: { c: { type: http, "+options+" } }\n"); got != want {
			t.Errorf("%s: got %q, want %q", options, got, want)
		}
	}
	for _, options := range []string{
		"version: 1.1, headers: { Connection: close }",
		"headers: { User-Agent: b }",
		"headers: { Authorization: Bearer x }",
		"method: POST, expect_body: ok",
		"method: POST",
	} {
		if got := faults(t, oneZone+"checks: { c: { type: http, "+options+" } }\n"); got != "" {
			t.Errorf("%s: got %q", options, got)
		}
	}
}
