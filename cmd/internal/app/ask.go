package app

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/miekg/dns"

	"gslbd/cmd/internal/admin"
	"gslbd/dnsserver"
	"gslbd/dnsserver/answer"
	"gslbd/zone"
)

// clientPort is the source port that an explained query pretends to have.
const clientPort = 5353

// question is an admin.ExplainQuery, read.
type question struct {
	name   string // fully qualified, in the asker's case
	qtype  uint16
	client netip.Addr
}

func parseQuestion(q admin.ExplainQuery) (question, error) {
	out := question{name: dns.Fqdn(q.Name), qtype: dns.TypeA, client: netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	if q.Name == "" {
		return out, &admin.Error{Status: http.StatusBadRequest, Message: "the name is empty", Hint: "the root is written as a dot"}
	}
	if _, ok := dns.IsDomainName(out.name); !ok || !ascii(out.name) {
		return out, &admin.Error{
			Status:  http.StatusBadRequest,
			Message: fmt.Sprintf("%q is not a domain name", q.Name),
			Hint:    "labels are 1 to 63 bytes, a name at most 255; write international names in their xn-- form",
		}
	}
	if q.Type != "" {
		var ok bool
		if out.qtype, ok = parseType(q.Type); !ok {
			return out, &admin.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf("%q is not a record type", q.Type), Hint: typeHint(q)}
		}
	}
	if q.Client != "" {
		addr, err := netip.ParseAddr(q.Client)
		if err != nil {
			return out, &admin.Error{
				Status:  http.StatusBadRequest,
				Message: fmt.Sprintf("client %q is not an IP address", q.Client),
				Hint:    "write it as 192.0.2.1 or 2001:db8::1",
			}
		}
		out.client = addr.Unmap()
	}
	return out, nil
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// parseType knows the mnemonics and TYPEnnn (RFC 3597 §5).
func parseType(word string) (uint16, bool) {
	word = strings.ToUpper(word)
	if t, ok := dns.StringToType[word]; ok {
		return t, true
	}
	number, ok := strings.CutPrefix(word, "TYPE")
	t, err := strconv.ParseUint(number, 10, 16)
	return uint16(t), ok && err == nil
}

func typeHint(q admin.ExplainQuery) string {
	word := q.Type
	if _, ok := parseType(q.Name); ok && strings.Contains(word, ".") {
		return fmt.Sprintf("the name comes first: %s %s", word, strings.ToUpper(q.Name))
	}
	known := make([]string, 0, len(dns.StringToType))
	for name := range dns.StringToType {
		known = append(known, name)
	}
	if near := zone.Nearest(strings.ToUpper(word), known); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "write a mnemonic such as A, AAAA or TXT, or TYPE and a number"
}

// ask puts the question to what s serves as a packet, on the way that every
// query takes and with the settings of s, and reads the reply.
func ask(s *state, q question) (*dns.Msg, error) {
	query := new(dns.Msg).SetQuestion(q.name, q.qtype)
	query.RecursionDesired = false
	packet, err := query.Pack()
	if err != nil {
		return nil, fmt.Errorf("packing the question: %w", err)
	}
	var current atomic.Pointer[answer.Table]
	current.Store(s.table)
	shared := dnsserver.NewShared()
	shared.Set(settings(s.cfg, "")) // the version is told in class CHAOS only
	responder := dnsserver.NewResponder(&current, new(dnsserver.AnswerCounts)).With(shared)
	client := netip.AddrPortFrom(q.client, clientPort)
	packet = responder.Respond(nil, packet, client, dnsserver.TCP)
	reply := new(dns.Msg)
	if err := reply.Unpack(packet); err != nil {
		return nil, fmt.Errorf("reading the reply: %w", err)
	}
	return reply, nil
}
