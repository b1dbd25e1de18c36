package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"strings"
	"time"
)

type tlsProber struct {
	common
	minDays int
	remote  netip.AddrPort
	config  *tls.Config
	now     func() time.Time
}

func newTLS(c Check, t Target, base common) (Prober, error) {
	o := c.TLS
	roots, err := authorities(o.CAFile)
	if err != nil {
		return nil, err
	}
	return &tlsProber{
		common: base, minDays: o.MinDays, now: time.Now,
		remote: netip.AddrPortFrom(t.Addr, c.Port(t)),
		config: &tls.Config{ServerName: o.serverName(t), InsecureSkipVerify: !o.Verify, RootCAs: roots},
	}, nil
}

// serverName is the name sent as SNI and looked for in the certificate.
func (o *TLS) serverName(t Target) string {
	if o.SNI != "" {
		return o.SNI
	}
	return strings.TrimSuffix(t.askedName(), ".")
}

// Probe completes a handshake and looks at the certificate. The latency ends
// with the handshake.
func (p *tlsProber) Probe(ctx context.Context) Result {
	tr := p.begin()
	tcp, f := p.dial(ctx, p.local, p.remote)
	if f != nil {
		return tr.end(f)
	}
	defer tcp.Close()
	tr.add("connect", "%s", p.remote)
	defer guard(ctx, tcp)()
	conn := tls.Client(tcp, p.config)
	if err := conn.Handshake(); err != nil {
		return tr.end(p.tlsFailure(ctx, err, p.config.ServerName))
	}
	state := conn.ConnectionState()
	tr.negotiated(&state)
	r := tr.pass()
	_ = conn.Close() // tells the peer that the end is meant
	if f := p.lifetime(state.PeerCertificates[0]); f != nil {
		return tr.end(f)
	}
	return r
}

// lifetime judges how long a certificate is still valid. That it is valid now
// is known already, unless verification is off.
func (p *tlsProber) lifetime(c *x509.Certificate) *failure {
	now := p.now()
	left := c.NotAfter.Sub(now)
	const day = 24 * time.Hour
	switch {
	case p.minDays == 0 || !now.Before(c.NotBefore) && left >= time.Duration(p.minDays)*day:
		return nil
	case now.Before(c.NotBefore) || left < 0:
		return failed("%s", validity(c, now))
	case left < day:
		return failed("certificate expires in %s, want %d day%s", span(left), p.minDays, plural(p.minDays))
	}
	return failed("certificate expires in %s, want %d", span(left), p.minDays)
}

// askedName is the name that a check asks t for when it has none of its own:
// the owner, else the address. A wildcard owner has no name of its own, so a
// name that it covers stands for it.
func (t Target) askedName() string {
	if rest, ok := strings.CutPrefix(t.Name, "*."); ok {
		return "probe." + rest
	}
	if t.Name != "" {
		return t.Name
	}
	return t.Addr.Unmap().WithZone("").String()
}
