package config

import (
	"fmt"
	"strings"
	"testing"

	"gslbd/health/probe"

	"github.com/google/go-cmp/cmp"
)

// dnsFaults loads a check of type dns with one option per line.
func dnsFaults(t *testing.T, lines ...string) string {
	t.Helper()
	return faults(t, oneZone+"checks:\n  c:\n    type: dns\n    "+strings.Join(lines, "\n    ")+"\n")
}

// TestRCodeNames takes every rcode by its name, in any case.
func TestRCodeNames(t *testing.T) {
	for code, name := range probe.RCodes() {
		for _, written := range []string{name, strings.ToLower(name)} {
			if got := loadCheck(t, "type: dns, rcode: "+written).DNS.RCode; got != code {
				t.Errorf("%s: got %d, want %d", written, got, code)
			}
		}
	}
}

// TestQueryTypes takes every type of data by its name, and no other type.
func TestQueryTypes(t *testing.T) {
	_, known, _ := probe.ParseQType("")
	for _, name := range known {
		if got := dnsFaults(t, fmt.Sprintf("qtype: %q", name)); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"ANY", "AXFR", "IXFR", "OPT", "TSIG", "TKEY", "MAILB", "TYPE0", "TYPE255", "TYPE65536"} {
		got := dnsFaults(t, "qtype: "+name)
		if !strings.HasPrefix(got, fmt.Sprintf("f:5: checks.c.qtype: %q is not a record type to ask for\n  hint: ", name)) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestQueryNames(t *testing.T) {
	long := strings.Repeat(strings.Repeat("a", 62)+".", 4)
	for written, want := range map[string]string{
		"example.com":       "example.com",
		"example.com.":      "example.com",
		"com":               "com",
		`"."`:               ".",
		`"*.example.com"`:   "*.example.com",
		"_x._tcp.Example":   "_x._tcp.Example",
		"1.2.0.192.in-addr": "1.2.0.192.in-addr",
		long + "a":          long + "a",
	} {
		if got := loadCheck(t, "type: dns, qname: "+written).DNS.QName; got != want {
			t.Errorf("%s: got %q, want %q", written, got, want)
		}
	}
	for written, fault := range map[string]string{
		`""`:                                 "an empty label",
		`".."`:                               "an empty label",
		"a..b":                               "an empty label",
		`"a b"`:                              "a character that no such name holds",
		"münchen.de":                         "a character outside ASCII",
		long + "abc":                         "longer than 253 characters",
		`"a;b.example"`:                      "a character that no such name holds",
		strings.Repeat("a", 64) + ".example": "a label longer than 63 characters",
	} {
		if got := dnsFaults(t, "qname: "+written); !strings.Contains(got, "is not a domain name: "+fault+"\n") {
			t.Errorf("%s: %s", written, got)
		}
	}
}

// TestRecordData holds the bounds of the list, and that what is wrong with an
// item is said once, whichever stands first of qtype and expect.
func TestRecordData(t *testing.T) {
	var most []string
	for i := range maxData {
		most = append(most, fmt.Sprintf("192.0.2.%d", i))
	}
	got := loadCheck(t, "type: dns, expect: [ "+strings.Join(most, ", ")+" ]").DNS.Expect
	if diff := cmp.Diff(most, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	longest := strings.Repeat("x", maxPayload)
	if got := dnsFaults(t, "qtype: TXT", "expect: "+longest); got != "" {
		t.Errorf("the longest: %s", got)
	}
	const notMX = "checks.c.expect: mail.example.com is not data of type MX\n  hint: as in a zone file; qtype says the type"
	for _, test := range []struct {
		want  string
		lines []string
	}{
		{"f:6: " + notMX, []string{"qtype: MX", "expect: mail.example.com"}},
		{"f:5: " + notMX, []string{"expect: mail.example.com", "qtype: MX"}},
		{"f:5: " + notMX, []string{`expect: [ "10 mail.example.com", mail.example.com ]`, "qtype: MX"}},
		{"f:6: checks.c.expect: a list where text belongs\n  hint: a single value, without brackets, braces or lines of its own",
			[]string{"expect:", "  - [ 192.0.2.1 ]", "  - 192.0.2.2"}},
		{"f:6: checks.c.expect: nothing where text belongs\n  hint: give one, or leave the key out", []string{"expect:", "  -"}},
		{"f:5: checks.c.expect: nothing where text belongs\n  hint: give one, or leave the key out", []string{"expect:"}},
		{`f:5: checks.c.expect: "192.0.2.1\n" is not data of type A` + "\n  hint: as in a zone file; qtype says the type",
			[]string{`expect: "192.0.2.1\n"`}},
		{"f:6: checks.c.expect: only an answer with rcode NOERROR has data to expect\n  hint: leave out expect or rcode",
			[]string{"rcode: REFUSED", "expect: 192.0.2.1"}},
	} {
		if got := dnsFaults(t, test.lines...); got != test.want {
			t.Errorf("%q: got %q, want %q", test.lines, got, test.want)
		}
	}
}

// TestDNSAliases has checks made of one another keep their own options.
func TestDNSAliases(t *testing.T) {
	c := mustLoad(t, oneZone+`
checks:
  a: &a { type: dns, qname: a.example, expect: 192.0.2.1 }
  b: { <<: *a, qname: b.example, expect: [ 192.0.2.1, 192.0.2.2 ] }
`)
	a, b := c.Checks["a"].DNS, c.Checks["b"].DNS
	if a.QName != "a.example" || len(a.Expect) != 1 || b.QName != "b.example" || len(b.Expect) != 2 {
		t.Errorf("got %+v and %+v", a, b)
	}
}
