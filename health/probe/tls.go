package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// tlsConfig reads the files once; a reload reads them again. It is nil when
// no connection can need it.
func (o *HTTP) tlsConfig(name string) (*tls.Config, error) {
	if o.Scheme != "https" && o.Redirects == 0 {
		return nil, nil
	}
	cfg := &tls.Config{ServerName: name, InsecureSkipVerify: !o.Verify, NextProtos: []string{"http/1.1"}}
	if o.Version == "2" {
		cfg.NextProtos = []string{"h2"}
	}
	var err error
	if cfg.RootCAs, err = authorities(o.CAFile); err != nil {
		return nil, err
	}
	if o.CertFile != "" || o.KeyFile != "" {
		cert, err := keyPair(o.CertFile, o.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cert_file and key_file: %w", err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	return cfg, nil
}

func keyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := readFile(certFile, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readFile(keyFile, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// authorities reads those that file holds; nil, the system's, without a file.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := readFile(file, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file: %s holds no certificate", file)
	}
	return pool, nil
}

// handshake negotiates TLS. Another server than the member is asked for its
// own name and not offered the client certificate.
func (p *httpProber) handshake(ctx context.Context, tcp net.Conn, h *hop, tr *tracer) (net.Conn, *failure) {
	cfg := p.tls
	if !h.own {
		cfg = cfg.Clone()
		cfg.ServerName, cfg.Certificates = hostName(h.url.Host), nil
	}
	conn := tls.Client(tcp, cfg)
	if err := conn.Handshake(); err != nil {
		if strings.HasSuffix(err.Error(), "no application protocol") {
			return nil, failed("server does not offer HTTP/%s", p.opts.Version)
		}
		return nil, p.tlsFailure(ctx, err, cfg.ServerName)
	}
	state := conn.ConnectionState()
	tr.negotiated(&state)
	if p.opts.Version == "2" && state.NegotiatedProtocol != "h2" {
		return nil, failed("server does not offer HTTP/2")
	}
	return conn, nil
}

// negotiated notes what a handshake agreed on.
func (t *tracer) negotiated(state *tls.ConnectionState) {
	leaf := state.PeerCertificates[0]
	t.add("tls", "%s, certificate %s, expires %s", tls.VersionName(state.Version),
		plain(subject(leaf)), leaf.NotAfter.UTC().Format(time.DateOnly))
}

// tlsFailure words what a handshake found.
func (c *common) tlsFailure(ctx context.Context, err error, name string) *failure {
	var (
		invalid   x509.CertificateInvalidError
		wrongName x509.HostnameError
		unknown   x509.UnknownAuthorityError
		noRoots   x509.SystemRootsError
		notTLS    tls.RecordHeaderError
	)
	switch {
	case ctx.Err() == context.Canceled:
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return failed("%s", validity(invalid.Cert, time.Now()))
	case errors.As(err, &wrongName):
		return failed("certificate is for %s, not %s", plain(subject(wrongName.Certificate)), plain(name))
	case errors.As(err, &unknown):
		return failed("certificate signed by unknown authority")
	case errors.As(err, &noRoots):
		return fault("tls: no system certificates on this machine (set ca_file)")
	case errors.As(err, &notTLS) && strings.HasPrefix(string(notTLS.RecordHeader[:]), "HTTP/"):
		return failed("tls: server speaks plain HTTP on this port")
	case errors.As(err, &notTLS):
		return failed("tls: reply is not TLS")
	}
	return classify(ctx, "tls", err, c.timeout)
}

// validity words a certificate outside its time.
func validity(c *x509.Certificate, now time.Time) string {
	if now.Before(c.NotBefore) {
		return "certificate is not valid before " + c.NotBefore.UTC().Format(time.DateTime)
	}
	return "certificate expired " + span(now.Sub(c.NotAfter)) + " ago"
}

// subject names whom a certificate is for: its first names, else its subject.
func subject(c *x509.Certificate) string {
	names := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	switch {
	case len(names) > 3:
		return strings.Join(names[:3], ", ") + ", …"
	case len(names) > 0:
		return strings.Join(names, ", ")
	case c.Subject.CommonName != "":
		return c.Subject.CommonName
	}
	return "no host"
}
