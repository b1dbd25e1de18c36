package probe

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// maxStrays bounds how many datagrams that answer another question one try
// passes over.
const maxStrays = 100

// await reads until a reply to the query comes. What has another id or
// question was sent by somebody else, or for somebody else, and decides
// nothing.
func (p *dnsProber) await(query *dns.Msg, stream bool, tr *tracer, next func() ([]byte, error), explain func(error) *failure) (*dns.Msg, *failure) {
	for strays := 0; strays <= maxStrays; strays++ {
		packet, err := next()
		if err != nil {
			f := explain(err)
			if strays > 0 && timedOut(err) && f.outcome == Fail {
				f.reason += fmt.Sprintf(" (%d ignored, not to this query)", strays)
			}
			return nil, f
		}
		reply, f := answerTo(query, packet, stream)
		switch {
		case f != nil:
			return nil, f
		case reply != nil:
			tr.add("reply", "%s, %d answer%s, %d bytes", rcodeName(reply.Rcode), len(reply.Answer), plural(len(reply.Answer)), len(packet))
			return reply, nil
		}
		tr.add("ignored", "%d bytes that do not answer the query", len(packet))
	}
	return nil, failed("more than %d replies to other queries", maxStrays)
}

// answerTo is the message in packet if it answers the query, nil if it does
// not. Only a datagram may be cut within a record: it is asked for again.
func answerTo(query *dns.Msg, packet []byte, stream bool) (reply *dns.Msg, f *failure) {
	const response = 1 << 7
	if len(packet) < 12 || binary.BigEndian.Uint16(packet) != query.Id || packet[2]&response == 0 {
		return nil, nil
	}
	defer func() {
		if recover() != nil { // the library on hostile data
			reply, f = nil, failed("reply is malformed")
		}
	}()
	reply = new(dns.Msg)
	if err := reply.Unpack(packet); err != nil {
		if reply.Truncated && !stream {
			return &dns.Msg{MsgHdr: reply.MsgHdr}, nil // cut within a record
		}
		return nil, failed("reply is malformed")
	}
	if reply.Opcode != dns.OpcodeQuery || !sameQuestion(query, reply) {
		return nil, nil
	}
	if (stream || !reply.Truncated) && !complete(reply, packet) {
		return nil, failed("reply is malformed")
	}
	return reply, nil
}

// complete tells whether the message in packet holds as many records as its
// header says (RFC 1035 section 4.1.1). The library does not mind an early end.
func complete(m *dns.Msg, packet []byte) bool {
	for i, section := range [...][]dns.RR{m.Answer, m.Ns, m.Extra} {
		if int(binary.BigEndian.Uint16(packet[6+2*i:])) != len(section) {
			return false
		}
	}
	return true
}

// sameQuestion compares the question that a reply repeats. A server that could
// not read the query repeats none.
func sameQuestion(query, reply *dns.Msg) bool {
	if len(reply.Question) == 0 {
		return reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError
	}
	q, r := query.Question[0], reply.Question[0]
	return len(reply.Question) == 1 && q.Qtype == r.Qtype && q.Qclass == r.Qclass && strings.EqualFold(q.Name, r.Name)
}

// judge wants the rcode, and every expected datum in the answer section. More
// data, other types and other sections do not matter.
func (p *dnsProber) judge(reply *dns.Msg) *failure {
	if reply.Rcode != p.opts.RCode {
		return failed("rcode %s, want %s", rcodeName(reply.Rcode), rcodeName(p.opts.RCode))
	}
	for i, want := range p.want {
		found := false
		for _, rr := range reply.Answer {
			found = found || sameData(rr, want)
		}
		if !found {
			return failed("answer lacks %s", plain(p.opts.Expect[i]))
		}
	}
	return nil
}

func (p *dnsProber) question() string {
	q := p.query.Question[0]
	return fmt.Sprintf("%s %s", plain(strings.TrimSuffix(q.Name, ".")), dns.Type(q.Qtype))
}

func rcodeName(code int) string {
	if name, ok := dns.RcodeToString[code]; ok {
		return name
	}
	return fmt.Sprintf("RCODE%d", code)
}
