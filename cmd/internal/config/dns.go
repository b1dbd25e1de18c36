package config

import (
	"fmt"
	"strings"

	"gslbd/health/probe"
)

// maxData bounds how many data an answer is looked through for.
const maxData = 100

// dnsOptions is the table of type dns.
func dnsOptions(c *probe.Check) []option {
	d := &probe.DNS{Port: 53, QType: 1}
	c.DNS = d
	var rcodes []word[int]
	for code, name := range probe.RCodes() {
		rcodes = append(rcodes, word[int]{name, code})
	}
	return []option{
		{name: "port", set: port(&d.Port)},
		{name: "qname", set: queryName(&d.QName)},
		{name: "qtype", set: queryType(&d.QType)},
		{name: "rcode", set: choice(&d.RCode, rcodes)},
		{name: "expect", set: recordData(&d.Expect)},
		{name: "transport", set: choice(&d.TCP, []word[bool]{{"udp", false}, {"tcp", true}})},
	}
}

// queryName stores a domain name, without the final dot unless it is the root.
func queryName(dst *string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a domain name")
		if !ok {
			return
		}
		name := s
		if s != "." {
			name = strings.TrimSuffix(s, ".")
		}
		if s == ".." {
			name = "" // what is left is not the root
		}
		if fault, hint := domainFault(name); fault != "" {
			r.fail(f, hint, "%s is not a domain name: %s", quote(s), fault)
			return
		}
		*dst = name
	}
}

// queryType stores the type of a question; 0, which is none, for a bad one.
func queryType(dst *uint16) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a record type")
		qtype, known, isType := probe.ParseQType(s)
		*dst = qtype
		if ok && !isType {
			hint := didYouMean(strings.ToUpper(s), known)
			if hint == "" {
				hint = "a type of data such as A, AAAA, CNAME, MX, NS, PTR, SOA, SRV, TXT or TYPE65280"
			}
			r.fail(f, hint, "%s is not a record type to ask for", quote(s))
		}
	}
}

// recordData stores data in presentation form; what they must look like
// depends on the type, which may stand further down.
func recordData(dst *[]string) setter {
	return func(r *reader, f field) {
		var data []string
		for _, item := range r.list(f) {
			var s string
			before := len(r.problems)
			if text(&s, maxPayload)(r, item); len(r.problems) > before {
				return
			}
			data = append(data, s)
		}
		switch n := len(data); {
		case n == 0:
			r.fail(f, "leave it out for any answer", "an empty list expects nothing")
		case n > maxData:
			r.fail(f, fmt.Sprintf("at most %d", maxData), "%d data are too many", n)
		default:
			*dst = data
		}
	}
}

// finishDNS reports data that cannot be in an answer.
func finishDNS(r *reader, _ field, c *probe.Check, given map[string]field) {
	at, d := given["expect"], c.DNS
	if len(d.Expect) == 0 || d.QType == 0 {
		return
	}
	if d.RCode != 0 {
		r.fail(at, "leave out expect or rcode", "only an answer with rcode NOERROR has data to expect")
		return
	}
	if err := d.Validate(); err != nil {
		r.fail(at, "as in a zone file; qtype says the type", "%v", err)
	}
}
