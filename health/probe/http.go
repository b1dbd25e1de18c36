package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

type httpProber struct {
	common
	opts   HTTP
	target netip.AddrPort
	source []netip.Addr
	host   string      // effective Host header of the member
	fields [][2]string // header fields in the order they are sent
	tls    *tls.Config // for the member itself; nil when TLS cannot come up
	first  hop
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	turns    turns // to read the password
	password func(path string) (string, error)
}

func newHTTP(c Check, t Target, base common) (Prober, error) {
	p := &httpProber{
		common: base, opts: *c.HTTP, source: c.Source,
		target: netip.AddrPortFrom(t.Addr, c.Port(t)),
		host:   c.HTTP.effectiveHost(t),
		lookup: resolve, password: readPassword,
	}
	if err := p.opts.fill(); err != nil {
		return nil, err
	}
	var err error
	if p.fields, err = p.opts.requestFields(p.host); err != nil {
		return nil, err
	}
	u, err := url.ParseRequestURI(p.opts.Path)
	if err != nil || p.opts.Path[0] != '/' {
		return nil, fmt.Errorf("path %s does not begin with / or has a bad escape", quote(p.opts.Path))
	}
	u.Scheme, u.Host = p.opts.Scheme, p.host
	if p.tls, err = p.opts.tlsConfig(p.opts.serverName(t)); err != nil {
		return nil, err
	}
	p.first = hop{url: u, method: p.opts.Method, body: p.opts.Body, own: true, port: p.target.Port()}
	return p, nil
}

// reply is what one response said. The body is read only when it decides.
type reply struct {
	status   int
	location string // of a redirect; "" without one
	follow   bool
	body     []byte
	cut      bool // the body is longer than maxRead
}

// Probe sends the request, follows redirects as configured, and judges the
// last response. The latency runs from before the connection is opened to the
// last byte that is read, redirects included.
func (p *httpProber) Probe(ctx context.Context) Result {
	auth, f := p.authorization(ctx)
	tr := p.begin()
	if f != nil {
		return tr.end(f)
	}
	h := p.first
	for n := 0; ; n++ {
		h.last = n >= p.opts.Redirects
		r, f := p.exchange(ctx, &h, auth, tr)
		if f == nil && !r.follow {
			f = p.opts.judge(r)
		} else if f == nil {
			h, f = p.redirect(&h, r, tr)
			if f == nil {
				continue
			}
		}
		if f != nil {
			return tr.end(f)
		}
		return tr.pass()
	}
}

// exchange opens a new connection, sends one request and reads its response.
func (p *httpProber) exchange(ctx context.Context, h *hop, auth string, tr *tracer) (*reply, *failure) {
	tcp, f := p.open(ctx, h, tr)
	if f != nil {
		return nil, f
	}
	defer tcp.Close()
	defer guard(ctx, tcp)()
	conn, resp, f := p.converse(ctx, tcp, h, auth, tr)
	if f != nil {
		return nil, f
	}
	r := &reply{status: resp.StatusCode}
	if redirectStatus(r.status) {
		r.location = resp.Header.Get("Location")
		r.follow = r.location != "" && !h.last
	}
	if !r.follow && p.opts.accepts(r.status) {
		f = p.readBody(ctx, resp.Body, r, tr)
	}
	if f == nil {
		_ = conn.Close() // tells a TLS peer that nothing was cut off
	}
	return r, f
}

// converse sends the request over tcp and reads the response up to its body.
func (p *httpProber) converse(ctx context.Context, tcp *net.TCPConn, h *hop, auth string, tr *tracer) (net.Conn, *http.Response, *failure) {
	watch := &watched{Conn: tcp}
	conn := net.Conn(tcp)
	if p.opts.Version == "2" {
		conn = watch
	}
	var f *failure
	if h.url.Scheme == "https" {
		if conn, f = p.handshake(ctx, conn, h, tr); f != nil {
			return nil, nil, f
		}
	}
	var resp *http.Response
	if p.opts.Version == "2" {
		resp, f = p.request2(ctx, conn, watch, h, auth, tr)
	} else {
		resp, f = p.request1(ctx, conn, h, auth, tr)
	}
	return conn, resp, f
}

// open connects to the member, or to the server that a redirect named.
func (p *httpProber) open(ctx context.Context, h *hop, tr *tracer) (*net.TCPConn, *failure) {
	if h.own {
		return p.connect(ctx, p.local, netip.AddrPortFrom(p.target.Addr(), h.port), tr)
	}
	addrs, f := p.resolve(ctx, hostName(h.url.Host), tr)
	if f != nil {
		return nil, f
	}
	for _, a := range addrs {
		conn, unmet := p.openOne(ctx, netip.AddrPortFrom(a, h.port), tr)
		if unmet == nil {
			return conn, nil
		}
		// That this machine lacks IPv6 excuses no server that refused over IPv4.
		if f == nil || unmet.outcome == Fail {
			f = unmet
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, f
}

// openOne connects to one address of another server than the member.
func (p *httpProber) openOne(ctx context.Context, remote netip.AddrPort, tr *tracer) (*net.TCPConn, *failure) {
	local, err := sourceFor(p.source, remote.Addr())
	if err != nil {
		return nil, fault("%s", err)
	}
	return p.connect(ctx, local, remote, tr)
}

func (p *httpProber) connect(ctx context.Context, local netip.Addr, remote netip.AddrPort, tr *tracer) (*net.TCPConn, *failure) {
	conn, f := p.dial(ctx, local, remote)
	if f == nil {
		tr.add("connect", "%s", remote)
	}
	return conn, f
}

// readBody reads up to maxRead bytes and keeps them only if they are judged.
func (p *httpProber) readBody(ctx context.Context, body io.Reader, r *reply, tr *tracer) *failure {
	var n int64
	var err error
	body = io.LimitReader(body, maxRead)
	if p.opts.ExpectBody != "" || p.opts.ExpectBodyRegex != nil {
		r.body, err = io.ReadAll(body)
		n = int64(len(r.body))
	} else {
		n, err = io.Copy(io.Discard, body)
	}
	if err != nil {
		return incomplete(ctx, "body", err, p.timeout)
	}
	r.cut = n == maxRead
	tr.add("last byte", "%d bytes of body", n)
	return nil
}

// incomplete words an error met after the reply has begun.
func incomplete(ctx context.Context, part string, err error, timeout time.Duration) *failure {
	f := classify(ctx, part, err, timeout)
	switch {
	case f.outcome == Fault:
	case timedOut(err):
		f.reason = fmt.Sprintf("reply incomplete after %s", timeout)
	case closed(err):
		f.reason = "connection closed before the end of the " + part
	}
	return f
}
