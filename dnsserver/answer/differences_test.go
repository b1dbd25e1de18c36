package answer_test

import (
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslbd/dnsserver"
)

// difference is one way in which a peer's replies may differ from ours: it
// accounts for the aspects named, where match holds.
type difference struct {
	name    string
	peers   string // each of them must differ so somewhere
	aspects string
	match   func(*replies) bool
}

// differences is the table of README.md, "Beside NSD and Knot".
func differences() []difference { return append(ofAnswers(), ofMessages()...) }

// ofAnswers are differences in which records are given.
func ofAnswers() []difference {
	return []difference{
		{"ANY gets HINFO, theirs an RRset", "nsd knot", "answer tc additional", func(p *replies) bool {
			return p.asks(dns.TypeANY) && len(p.ours.answer) == 1 && strings.HasSuffix(p.ours.answer[0], ` 3600 in hinfo "rfc8482" ""`)
		}},
		{"ANY below a DNAME is not followed, theirs is", "nsd knot", "answer rcode authority additional", func(p *replies) bool {
			return p.asks(dns.TypeANY) && kinds(p.ours.answer) == "cname dname" && contains(p.theirs.answer, p.ours.answer)
		}},
		{"apex NS without the servers' addresses", "nsd knot", "additional", func(p *replies) bool {
			return p.asks(dns.TypeNS) && strings.HasSuffix(kinds(p.whole.answer), "ns") && addresses(p.theirs.additional)
		}},
		{"MX and SRV without addresses", "knot", "additional", func(p *replies) bool {
			return (p.asks(dns.TypeMX) || p.asks(dns.TypeSRV)) && len(p.ours.answer) > 0 && addresses(p.theirs.additional)
		}},
		{"a chain goes on in the other zones here, theirs ends", "knot", "rcode answer authority additional tc", func(p *replies) bool {
			return p.crosses() && contains(p.whole.answer, p.theirs.answer)
		}},
		{"NSEC asked at a CNAME follows it, theirs is NODATA", "knot", "rcode answer authority additional", func(p *replies) bool {
			return p.asks(dns.TypeNSEC) && strings.HasPrefix(kinds(p.ours.answer), "cname") && contains(p.ours.answer, p.theirs.answer) && kinds(p.theirs.authority) == "soa"
		}},
		{"YXDOMAIN ends with the DNAME, theirs with an SOA or the data of the DNAME's target", "knot", "answer authority tc", func(p *replies) bool {
			return p.ours.rcode == "YXDOMAIN" && p.theirs.rcode == "YXDOMAIN" && contains(p.theirs.answer, p.whole.answer)
		}},
		{"a DNAME loop gives each record once", "knot", "answer", func(p *replies) bool {
			return kinds(p.ours.answer) == "cname dname" && slices.Equal(p.ours.answer, slices.Compact(p.theirs.answer))
		}},
		{"a chain has 16 links, theirs goes on", "nsd", "rcode answer authority", func(p *replies) bool {
			return aliases(p.ours.answer) == 17 && len(p.ours.authority) == 0 && contains(p.theirs.answer, p.ours.answer)
		}},
		{"a chain has 16 links, theirs 5", "knot", "rcode answer authority tc", func(p *replies) bool {
			return aliases(p.theirs.answer) == 5 && aliases(p.whole.answer) > 5 && contains(p.whole.answer, p.theirs.answer)
		}},
		{"a DNAME that leads below itself is followed 16 times, theirs once", "nsd", "answer tc", func(p *replies) bool {
			return strings.Contains(strings.Join(p.whole.answer, " "), " in dname x.grow.") && contains(p.whole.answer, p.theirs.answer)
		}},
	}
}

// ofMessages are differences in what fits, and in queries that are not usual.
func ofMessages() []difference {
	return []difference{
		{"TC where the SOA of a negative answer does not fit, theirs goes without", "knot", "tc answer", func(p *replies) bool {
			return p.ours.tc && kinds(p.whole.authority) == "soa" && slices.Equal(p.whole.answer, p.theirs.answer)
		}},
		{"TC where glue below the cut does not fit, theirs goes without", "nsd", "tc aa authority additional", func(p *replies) bool {
			return p.ours.tc && !p.theirs.tc && kinds(p.whole.authority) == "ns" && slices.Equal(p.theirs.authority, p.whole.authority) && contains(p.whole.additional, p.theirs.additional)
		}},
		{"no TC where only sibling glue does not fit", "nsd", "tc", func(p *replies) bool {
			return p.theirs.tc && kinds(p.ours.authority) == "ns" && slices.Equal(p.ours.authority, p.whole.authority) && len(p.ours.additional) < len(p.whole.additional)
		}},
		{"the CNAME made from a DNAME is not compressed, so TC comes earlier", "nsd knot", "tc answer authority", func(p *replies) bool {
			return p.ours.tc && !p.theirs.tc && strings.Contains(kinds(p.whole.answer), "dname") && slices.Equal(p.whole.answer, p.theirs.answer)
		}},
		{"NSEC3 is data like any other, theirs hide its name", "nsd knot", "rcode answer authority", func(p *replies) bool {
			name := norm(p.query.Question[0].Name)
			z := p.zones.find(name, dns.TypeNSEC3)
			return z != nil && len(z.sets[name]) == 1 && z.sets[name][dns.TypeNSEC3] != nil && p.theirs.rcode == "NXDOMAIN"
		}},
		{"BADVERS with the query's DO, theirs without", "nsd", "edns", func(p *replies) bool {
			return p.ours.edns == "edns do " && p.query.IsEdns0().Version() > 0
		}},
		{"class ANY is REFUSED, theirs as IN", "nsd knot", "rcode answer aa", func(p *replies) bool {
			return p.query.Question[0].Qclass == dns.ClassANY && p.ours.rcode == "REFUSED"
		}},
		{"AXFR over UDP is REFUSED, theirs NOTIMP", "nsd knot", "rcode", func(p *replies) bool {
			return p.asks(dns.TypeAXFR) && p.transport == dnsserver.UDP && p.ours.rcode == "REFUSED"
		}},
		{"AXFR and IXFR are REFUSED, theirs NOTAUTH", "knot", "rcode", func(p *replies) bool {
			return p.theirs.rcode == "NOTAUTH" && (p.asks(dns.TypeAXFR) || p.asks(dns.TypeIXFR)) && p.ours.rcode == "REFUSED"
		}},
		{"class CH says who answers", "nsd knot", "rcode answer aa", func(p *replies) bool {
			return p.query.Question[0].Qclass == dns.ClassCHAOS
		}},
		{"a malformed option is FORMERR, theirs passed over", "nsd knot", "rcode answer aa authority", func(p *replies) bool {
			return p.ours.rcode == "FORMERR" && p.ours.edns != "" && p.ours.question != ""
		}},
		{"NOTIFY is REFUSED", "nsd knot", "rcode question edns", func(p *replies) bool {
			return p.query.Opcode == dns.OpcodeNotify && p.ours.rcode == "REFUSED"
		}},
	}
}

func (p *replies) asks(qtype uint16) bool { return p.query.Question[0].Qtype == qtype }

// crosses tells whether our answer is a chain that leaves the first name's zone.
func (p *replies) crosses() bool {
	first := p.zones.find(norm(p.query.Question[0].Name), p.query.Question[0].Qtype)
	for _, r := range p.whole.answer {
		if field := strings.Fields(r); field[3] == "cname" && p.zones.find(field[4], p.query.Question[0].Qtype) != first {
			return true
		}
	}
	return false
}

// kinds lists the types of records, each once.
func kinds(records []string) string {
	var list []string
	for _, r := range records {
		list = append(list, strings.Fields(r)[3])
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// aliases counts CNAME records.
func aliases(records []string) (n int) {
	for _, r := range records {
		if kinds([]string{r}) == "cname" {
			n++
		}
	}
	return n
}

// addresses tells whether there are records, of A and AAAA only.
func addresses(records []string) bool {
	return slices.Contains([]string{"a", "aaaa", "a aaaa"}, kinds(records))
}

// contains tells whether all of part are in records.
func contains(records, part []string) bool {
	return !slices.ContainsFunc(part, func(r string) bool { return !slices.Contains(records, r) })
}
