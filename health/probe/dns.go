package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"

	"github.com/miekg/dns"
)

type dnsProber struct {
	common
	opts   DNS
	want   []dns.RR // parsed opts.Expect
	query  dns.Msg  // without id
	remote netip.AddrPort
}

func newDNS(c Check, t Target, base common) (Prober, error) {
	p := &dnsProber{common: base, opts: *c.DNS, remote: netip.AddrPortFrom(t.Addr, c.Port(t))}
	name := p.opts.queryName(t)
	if name == "" {
		return nil, errors.New("no name to ask for (set qname)")
	}
	if _, ok := dns.IsDomainName(name); !ok {
		return nil, fmt.Errorf("qname %s is not a domain name", quote(name))
	}
	var err error
	if p.want, err = p.opts.data(); err != nil {
		return nil, err
	}
	p.query.SetQuestion(dns.Fqdn(name), p.opts.QType) // recursion desired, as a stub resolver asks
	return p, nil
}

// queryName is the option, else the owner name.
func (o *DNS) queryName(t Target) string {
	if o.QName != "" || t.Name == "" {
		return o.QName
	}
	return t.askedName()
}

// Probe asks the question and judges the first reply to it.
func (p *dnsProber) Probe(ctx context.Context) Result {
	tr := p.begin()
	query := p.query
	query.Id = dns.Id()
	packet, err := query.Pack()
	if err != nil {
		return tr.end(fault("question cannot be sent: %s", plain(err.Error())))
	}
	ask := p.overUDP
	if p.opts.TCP {
		ask = p.overTCP
	}
	reply, f := ask(ctx, &query, packet, tr)
	if f == nil && reply.Truncated && !p.opts.TCP {
		tr.add("truncated", "asking again over tcp")
		reply, f = p.overTCP(ctx, &query, packet, tr)
	}
	if f != nil {
		return tr.end(f)
	}
	r := tr.pass()
	if f := p.judge(reply); f != nil {
		return tr.end(f)
	}
	return r
}

func (p *dnsProber) overUDP(ctx context.Context, query *dns.Msg, packet []byte, tr *tracer) (*dns.Msg, *failure) {
	conn, f := p.dialUDP(ctx, p.remote)
	if f != nil {
		return nil, f
	}
	defer conn.Close()
	defer guard(ctx, conn)()
	if _, err := conn.Write(packet); err != nil {
		return nil, p.unsent(ctx, err)
	}
	tr.add("query", "%s to %s over udp", p.question(), p.remote)
	buf := make([]byte, 4096)
	return p.await(query, false, tr, func() ([]byte, error) {
		n, err := conn.Read(buf)
		return buf[:n], err
	}, func(err error) *failure { return p.unanswered(ctx, err) })
}

func (p *dnsProber) overTCP(ctx context.Context, query *dns.Msg, packet []byte, tr *tracer) (*dns.Msg, *failure) {
	conn, f := p.dial(ctx, p.local, p.remote)
	if f != nil {
		return nil, f
	}
	defer conn.Close()
	_ = conn.SetLinger(0)
	tr.add("connect", "%s", p.remote)
	defer guard(ctx, conn)()
	framed := binary.BigEndian.AppendUint16(nil, uint16(len(packet)))
	if _, err := conn.Write(append(framed, packet...)); err != nil {
		return nil, classify(ctx, "send", err, p.timeout)
	}
	tr.add("query", "%s to %s over tcp", p.question(), p.remote)
	var buf bytes.Buffer
	return p.await(query, true, tr, func() ([]byte, error) {
		buf.Reset()
		message, begun, err := readFramed(conn, &buf)
		if err != nil && begun {
			err = incomplete(ctx, "reply", err, p.timeout)
		}
		return message, err
	}, func(err error) *failure { return classify(ctx, "", err, p.timeout) })
}

// readFramed reads one message of a stream (RFC 1035 section 4.2.2) into buf,
// which grows with what comes and not with what is announced; begun says
// whether any of it came.
func readFramed(conn net.Conn, buf *bytes.Buffer) (message []byte, begun bool, err error) {
	var size [2]byte
	n, err := io.ReadFull(conn, size[:])
	if err != nil {
		return nil, n > 0, err
	}
	_, err = io.CopyN(buf, conn, int64(binary.BigEndian.Uint16(size[:])))
	return buf.Bytes(), true, err
}
