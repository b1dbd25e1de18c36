package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListen(t *testing.T) {
	for value, want := range map[string][]string{
		`127.0.0.1:5353`:                   {"127.0.0.1:5353"},
		`":53"`:                            {":53"},
		`:53`:                              {":53"},
		`"*:53"`:                           {":53"},
		`[ 127.0.0.1:53, "[::1]:53" ]`:     {"127.0.0.1:53", "[::1]:53"},
		`"127.0.0.1:53, [::1]:053"`:        {"127.0.0.1:53", "[::1]:53"},
		`[ 127.0.0.1:0, 127.0.0.1:0 ]`:     {"127.0.0.1:0", "127.0.0.1:0"},
		`[ 0.0.0.0:53, "[::]:53" ]`:        {"0.0.0.0:53", "[::]:53"},
		`[ ":53", ":5353", 127.0.0.1:53 ]`: {":53", ":5353", "127.0.0.1:53"},
		`"[2001:DB8:0::1]:53"`:             {"[2001:db8::1]:53"},
		`"[fe80::1%eth0]:53"`:              {"[fe80::1%eth0]:53"},
		`"[::ffff:192.0.2.1]:65535"`:       {"192.0.2.1:65535"},
	} {
		if diff := cmp.Diff(want, mustLoad(t, oneZone+"listen: "+value+"\n").Listen); diff != "" {
			t.Errorf("%s: -want +got:\n%s", value, diff)
		}
	}
}

func TestZoneNames(t *testing.T) {
	for value, want := range map[string]string{
		"example.com":               "example.com",
		"Example.COM.":              "example.com",
		`"."`:                       ".",
		"com":                       "com",
		"_dmarc.example.com":        "_dmarc.example.com",
		"2.0.192.in-addr.arpa":      "2.0.192.in-addr.arpa",
		"0/25.2.0.192.in-addr.arpa": "0/25.2.0.192.in-addr.arpa",
		"xn--bcher-kva.example":     "xn--bcher-kva.example",
		"10":                        "10",
	} {
		c := mustLoad(t, "zones:\n  - name: "+value+"\n    file: ../zones/a.zone\n")
		if got := c.Zones[0].Name; got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}

func TestListenFaults(t *testing.T) {
	const forms = "\n  hint: IP:PORT, [IPv6]:PORT, or :PORT for every address"
	const ports = "\n  hint: a port from 1 to 65535; 0 takes any free one"
	const byName = "\n  hint: write its IP address; the server does not ask another one for names"
	for value, want := range map[string]string{
		`localhost`:                          `"localhost" is not an address with a port` + forms,
		`"localhost:53"`:                     `"localhost:53": "localhost" is not an IP address` + byName,
		`"127.0.0.1"`:                        "\"127.0.0.1\" is not an address with a port\n  hint: \"127.0.0.1:53\"",
		`"[::1]"`:                            "\"[::1]\" is not an address with a port\n  hint: \"[::1]:53\"",
		`"::1:53"`:                           "\"::1:53\" is not an address with a port\n  hint: \"[::1]:53\" or \"[::1:53]:53\"",
		`"2001:db8::1"`:                      "\"2001:db8::1\" is not an address with a port\n  hint: \"[2001:db8::1]:53\"",
		`"[::1:53]"`:                         "\"[::1:53]\" is not an address with a port\n  hint: \"[::1:53]:53\"",
		`"::1"`:                              "\"::1\" is not an address with a port\n  hint: \"[::1]:53\"",
		`127.0.0.1@5353`:                     "\"127.0.0.1@5353\" is not an address with a port\n  hint: \"127.0.0.1:5353\"",
		`"2001:db8::1@5353"`:                 "\"2001:db8::1@5353\" is not an address with a port\n  hint: \"[2001:db8::1]:5353\"",
		`lo@5353`:                            `"lo@5353" is not an address with a port` + forms,
		`5353`:                               "\"5353\" is not an address with a port\n  hint: \":5353\"",
		`"127.0.0.1:"`:                       `"127.0.0.1:": "" is not a port` + ports,
		`"127.0.0.1:-1"`:                     `"127.0.0.1:-1": "-1" is not a port` + ports,
		`"127.0.0.1:65536"`:                  `"127.0.0.1:65536": "65536" is not a port` + ports,
		`"127.1:53"`:                         `"127.1:53": "127.1" is not an IP address` + byName,
		`"127.0.0.1/8:53"`:                   `"127.0.0.1/8:53": "127.0.0.1/8" is not an IP address` + byName,
		`"udp://127.0.0.1:53"`:               `"udp://127.0.0.1:53" is not an address with a port` + forms,
		`","`:                                "no address to listen on\n  hint: \":53\" for every address",
		`~`:                                  "nothing where an address belongs\n  hint: give one, or leave the key out",
		`[ "127.0.0.1:53", "127.0.0.1:53" ]`: "127.0.0.1:53 is repeated\n  hint: keep one of them",
		`[ ":53", "*:53" ]`:                  ":53 is repeated\n  hint: keep one of them",
		`[ "[::1]:53", "[0:0::1]:53" ]`:      "[::1]:53 is repeated\n  hint: keep one of them",
		`[ "[::]:53", ":53" ]`:               ":53 overlaps with [::]:53\n  hint: \":53\" alone means every address, IPv4 and IPv6",
		`[ ":53", "0.0.0.0:53" ]`:            "0.0.0.0:53 overlaps with :53\n  hint: \":53\" alone means every address, IPv4 and IPv6",
		listOf(101, `"127.0.0.1:%d"`):        "101 addresses\n  hint: at most 100; \":53\" is every address",
	} {
		var got []string
		if fault := apply(t, value, listenOn(&got)); fault != want {
			t.Errorf("%s: got %q, want %q", value, fault, want)
		}
	}
}

// listOf gives a YAML list of n items made from a format with the numbers 1 to n.
func listOf(n int, format string) string {
	var items []string
	for i := range n {
		items = append(items, fmt.Sprintf(format, i+1))
	}
	return "[ " + strings.Join(items, ", ") + " ]"
}

func TestDomainFaults(t *testing.T) {
	label := strings.Repeat("a", 63)
	for name, want := range map[string]string{
		"":                               "an empty label",
		".example":                       "an empty label",
		"a..b":                           "an empty label",
		"a b":                            "a character that no such name holds",
		"a\tb":                           "a character that no such name holds",
		`a\b`:                            "a character that no such name holds",
		`"a"`:                            "a character that no such name holds",
		"a;b":                            "a character that no such name holds",
		"$ORIGIN":                        "a character that no such name holds",
		"@":                              "a character that no such name holds",
		"bücher.example":                 "a character outside ASCII",
		"a\x7f":                          "a character outside ASCII",
		label + "a":                      "a label longer than 63 characters",
		label + ".example":               "",
		strings.Repeat("a.", 126) + "a":  "",
		strings.Repeat("a.", 126) + "ab": "longer than 253 characters",
		".":                              "",
		"a-b_c.1":                        "",
	} {
		got, hint := domainFault(name)
		if got != want || (hint == "") != (want == "") {
			t.Errorf("%q: got %q, %q, want %q", name, got, hint, want)
		}
	}
}
