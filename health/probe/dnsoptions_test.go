package probe

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestParseQType(t *testing.T) {
	for s, want := range map[string]uint16{
		"A": 1, "aaaa": 28, "Svcb": 64, "TYPE65280": 65280, "type1": 1, "TYPE65534": 65534,
		"ANY": 0, "AXFR": 0, "IXFR": 0, "OPT": 0, "TSIG": 0, "TKEY": 0, "TYPE0": 0, "TYPE255": 0, "TYPE41": 0, "TYPE65535": 0,
		"TYPE65536": 0, "TYPE-1": 0, "TYPE": 0, "": 0, "AA": 0, "1": 0, "NONE": 0, "RESERVED": 0,
	} {
		got, known, ok := ParseQType(s)
		if got != want || ok != (want != 0) || ok == (len(known) > 0) {
			t.Errorf("%q: %d, %v with %d known", s, got, ok, len(known))
		}
	}
	_, known, _ := ParseQType("x")
	for _, name := range known {
		if _, _, ok := ParseQType(name); !ok {
			t.Errorf("%s is known and refused", name)
		}
	}
	if !slices.Contains(known, "A") || slices.Contains(known, "ANY") {
		t.Errorf("known %v", known)
	}
}

func TestRCodes(t *testing.T) {
	if got := strings.Join(RCodes(), " "); got != "NOERROR FORMERR SERVFAIL NXDOMAIN NOTIMP REFUSED YXDOMAIN YXRRSET NXRRSET NOTAUTH NOTZONE" {
		t.Error(got)
	}
}

func TestDNSValidate(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct {
		qtype  uint16
		expect string
		want   string
	}{
		{dns.TypeA, "192.0.2.1", ""},
		{dns.TypeA, "192.0.2.256", "192.0.2.256 is not data of type A"},
		{dns.TypeA, "2001:db8::1", "2001:db8::1 is not data of type A"},
		{dns.TypeA, "", `"" is not data of type A`},
		{dns.TypeA, " ", "  is not data of type A"},
		{dns.TypeA, "; remark", "; remark is not data of type A"},
		{dns.TypeA, "192.0.2.1\n", `"192.0.2.1\n" is not data of type A`},
		{dns.TypeA, "192.0.2.1 192.0.2.2", "192.0.2.1 192.0.2.2 is not data of type A"},
		{dns.TypeA, "( )", "( ) is not data of type A"},
		{dns.TypeMX, "10 mail.example", ""},
		{dns.TypeMX, "mail.example", "mail.example is not data of type MX"},
		{dns.TypeSOA, "ns.example host.example 1 2 3 4 5", ""},
		{dns.TypeTXT, `a "quoted" \ word; é`, ""},
		{dns.TypeTXT, `"open`, `"open is not data of type TXT`},
		{dns.TypeTXT, long, ""},
		{65280, `\# 1 00`, ""},
		{65280, "x", "x is not data of type TYPE65280"},
	} {
		got := ""
		if err := (&DNS{QType: c.qtype, Expect: []string{c.expect}}).Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %q: got %q, want %q", dns.Type(c.qtype), c.expect, got, c.want)
		}
	}
}

// Every type that can be asked for takes odd data without a panic.
func TestDNSOddData(t *testing.T) {
	for typ := range dns.TypeToRR {
		for _, data := range []string{`""`, `"`, `1`, `1 1`, `1 1 1`, `"" ""`, `1 2 N 3 4 E `, `1 . `, `\# 1 00`, `( )`, `a=`, `1 . =`, `-`, `1 2 3 4 5 6 7 8 9 10`} {
			rr, err := parseData(typ, data)
			if err == nil && !sameData(rr, rr) {
				t.Errorf("%s %s: differs from itself", dns.Type(typ), data)
			}
		}
	}
}
