package probe

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// hop is one request of a probe: the configured one, or one that a redirect
// asked for.
type hop struct {
	url    *url.URL // Host is the Host header
	method string
	body   string
	port   uint16 // to connect to
	own    bool   // goes to the member itself
	last   bool   // no redirect may follow
}

func redirectStatus(status int) bool {
	return status >= 301 && status <= 303 || status == 307 || status == 308
}

// redirect is the hop that a response asked for. A URL that names the member
// (its host or its address) goes to the member's own address whatever
// redirect_to says: looking the name up could find another member.
func (p *httpProber) redirect(h *hop, r *reply, tr *tracer) (hop, *failure) {
	u, err := h.url.Parse(r.location)
	if err != nil || u.Host == "" || !httpguts.ValidHostHeader(u.Host) || u.Scheme != "http" && u.Scheme != "https" {
		return hop{}, failed("redirect to %s cannot be followed", quote(r.location))
	}
	u.User = nil
	next := hop{url: u, method: h.method, body: h.body, own: p.names(u)}
	if !next.own && p.opts.RedirectTo == SameHost {
		return hop{}, failed("redirect to %s refused (redirect_to: same-host)", plain(hostName(u.Host)))
	}
	if next.port, err = p.portOf(u, next.own); err != nil {
		return hop{}, failed("redirect to %s cannot be followed", quote(r.location))
	}
	// What a client does with a body (RFC 9110 section 15.4).
	if r.status == http.StatusSeeOther && h.method != http.MethodHead || r.status < 303 && h.method == http.MethodPost {
		next.method, next.body = http.MethodGet, ""
	}
	tr.add("redirect", "%d to %s", r.status, plain(u.String()))
	return next, nil
}

// names says whether u is about the member.
func (p *httpProber) names(u *url.URL) bool {
	host := hostName(u.Host)
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, hostName(p.host)) || err == nil && addr.Unmap() == p.target.Addr()
}

// portOf is where u is served. On the member, the scheme of the check is
// served on the port that is probed, unless the URL says otherwise.
func (p *httpProber) portOf(u *url.URL, own bool) (uint16, error) {
	same := own && u.Scheme == p.opts.Scheme
	switch {
	case same && (u.Port() == "" || strings.EqualFold(u.Host, p.host)):
		return p.target.Port(), nil
	case u.Port() == "":
		return schemePort(u.Scheme), nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if n == 0 {
		err = errors.New("no port")
	}
	return uint16(n), err
}

func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// resolve finds the server that a redirect named. A name that does not exist
// is the member's mistake, a resolver that does not answer is not.
func (p *httpProber) resolve(ctx context.Context, host string, tr *tracer) ([]netip.Addr, *failure) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	addrs, err := p.lookup(ctx, host)
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound, err == nil && len(addrs) == 0:
		return nil, failed("redirect to %s: no such host", plain(host))
	case ctx.Err() == context.Canceled:
		return nil, fault(cancelled)
	case err != nil:
		return nil, fault("redirect to %s: the resolver does not answer", plain(host))
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	tr.add("resolve", "%s is %s", host, addrs[0])
	return addrs, nil
}
