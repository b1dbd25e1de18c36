package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority signs certificates for one test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // PEM of cert
	dir  string
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	ca := &x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	pair := a.sign(t, ca)
	a.cert, a.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	a.file = a.write(t, "ca.pem", "CERTIFICATE", pair.Certificate[0])
	return a
}

// sign completes a template: by this authority, or by itself without one.
func (a *authority) sign(t testing.TB, c *x509.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	if c.NotBefore.IsZero() {
		c.NotBefore = time.Now().Add(-1000 * time.Hour)
	}
	parent, signer := c, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func (a *authority) write(t testing.TB, name, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(a.dir, name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// secure starts an HTTPS server with its own TLS settings.
func secure(t testing.TB, cfg *tls.Config, h http.HandlerFunc) netip.AddrPort {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = cfg
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return netip.MustParseAddrPort(s.Listener.Addr().String())
}

func names(n ...string) *x509.Certificate { return &x509.Certificate{DNSNames: n} }

func TestTLSCertificates(t *testing.T) {
	ca, stranger := newAuthority(t), &authority{}
	good := names("www.example")
	expired := names("www.example")
	expired.NotAfter = time.Now().Add(-75 * time.Hour)
	early := names("www.example")
	early.NotBefore = time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	early.NotAfter = early.NotBefore.Add(time.Hour)
	byIP := &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	odd := names()
	odd.Subject.CommonName = "line\nbreak"
	for _, c := range []struct {
		about   string
		pair    tls.Certificate
		change  func(*HTTP)
		outcome Outcome
		reason  string
	}{
		{"good", ca.sign(t, good), nil, Pass, ""},
		{"wildcard", ca.sign(t, names("*.example")), nil, Pass, ""},
		{"for another", ca.sign(t, names("other.example")), nil, Fail, "certificate is for other.example, not www.example"},
		{"for many others", ca.sign(t, names("a.example", "b.example", "c.example", "d.example")), nil, Fail,
			`certificate is for "a.example, b.example, c.example, …", not www.example`},
		{"sni names the other", ca.sign(t, names("other.example")), func(o *HTTP) { o.SNI = "other.example" }, Pass, ""},
		{"host names the other", ca.sign(t, names("other.example")), func(o *HTTP) { o.Host = "other.example:8443" }, Pass, ""},
		{"for an address", ca.sign(t, byIP), nil, Fail, "certificate is for 127.0.0.1, not www.example"},
		{"an address wanted", ca.sign(t, byIP), func(o *HTTP) { o.Host = "127.0.0.1" }, Pass, ""},
		{"without names", ca.sign(t, odd), nil, Fail, `certificate is for "line\nbreak", not www.example`},
		{"for nobody", ca.sign(t, names()), nil, Fail, "certificate is for no host, not www.example"},
		{"expired", ca.sign(t, expired), nil, Fail, "certificate expired 3 days ago"},
		{"not yet valid", ca.sign(t, early), nil, Fail, "certificate is not valid before 2100-01-02 03:04:05"},
		{"self-signed", stranger.sign(t, names("www.example")), nil, Fail, "certificate signed by unknown authority"},
		{"the system's authorities", ca.sign(t, good), func(o *HTTP) { o.CAFile = "" }, Fail, "certificate signed by unknown authority"},
		{"expired, not verified", ca.sign(t, expired), func(o *HTTP) { o.Verify = false }, Pass, ""},
		{"self-signed, not verified", stranger.sign(t, names("other.example")), func(o *HTTP) { o.Verify = false }, Pass, ""},
	} {
		at := secure(t, &tls.Config{Certificates: []tls.Certificate{c.pair}}, func(http.ResponseWriter, *http.Request) {})
		for _, version := range []string{"1.0", "1.1"} {
			t.Run(c.about+" "+version, func(t *testing.T) {
				got := run(t, httpCheck(long, func(o *HTTP) {
					o.Scheme, o.CAFile, o.Version = "https", ca.file, version
					if c.change != nil {
						c.change(o)
					}
				}), target(at))
				want(t, got, c.outcome, c.reason)
			})
		}
	}
}

func TestTLSServerName(t *testing.T) {
	ca := newAuthority(t)
	seen := make(chan string, 1)
	cfg := &tls.Config{Certificates: []tls.Certificate{ca.sign(t, names("*.example"))}}
	cfg.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) { seen <- h.ServerName; return nil, nil }
	at := secure(t, cfg, func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct{ host, sni, want string }{
		{"", "", "www.example"}, {"a.example:99", "", "a.example"}, {"a.example", "b.example", "b.example"},
	} {
		want(t, run(t, httpCheck(long, func(o *HTTP) {
			o.Scheme, o.CAFile, o.Host, o.SNI = "https", ca.file, c.host, c.sni
		}), target(at)), Pass, "")
		if got := <-seen; got != c.want {
			t.Errorf("sni %s, want %s", got, c.want)
		}
	}
}

func TestTLSClientCertificate(t *testing.T) {
	ca := newAuthority(t)
	mine := ca.sign(t, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	key, err := x509.MarshalPKCS8PrivateKey(mine.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := ca.write(t, "cert.pem", "CERTIFICATE", mine.Certificate[0]), ca.write(t, "key.pem", "PRIVATE KEY", key)
	at := secure(t, &tls.Config{
		Certificates: []tls.Certificate{ca.sign(t, names("www.example"))},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: ca.pool(),
	}, func(http.ResponseWriter, *http.Request) {})
	with := func(o *HTTP) { o.Scheme, o.CAFile, o.CertFile, o.KeyFile = "https", ca.file, certFile, keyFile }
	want(t, run(t, httpCheck(long, with), target(at)), Pass, "")
	got := run(t, httpCheck(long, func(o *HTTP) { with(o); o.CertFile, o.KeyFile = "", "" }), target(at))
	want(t, got, Fail, "tls: certificate required")

	// A server that a redirect names is not offered the certificate.
	front := secure(t, &tls.Config{Certificates: []tls.Certificate{ca.sign(t, names("www.example"))}},
		func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://localhost:"+portText(at)+"/", http.StatusFound)
		})
	got = run(t, httpCheck(long, func(o *HTTP) { with(o); o.Verify, o.Redirects, o.RedirectTo = false, 1, AnyHost }), target(front))
	want(t, got, Fail, "tls: certificate required")
}

func portText(at netip.AddrPort) string { return strings.TrimPrefix(at.String(), "127.0.0.1:") }

func TestTLSFiles(t *testing.T) {
	ca := newAuthority(t)
	junk := filepath.Join(ca.dir, "junk")
	if err := os.WriteFile(junk, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(*HTTP)
		want   string
	}{
		{func(o *HTTP) { o.CAFile = "/nonexistent" }, "ca_file: open /nonexistent: no such file or directory"},
		{func(o *HTTP) { o.CAFile = junk }, "ca_file: " + junk + " holds no certificate"},
		{func(o *HTTP) { o.CertFile = ca.file }, "cert_file and key_file: open : no such file or directory"},
		{func(o *HTTP) { o.CertFile, o.KeyFile = junk, junk }, "cert_file and key_file: tls: failed to find any PEM data in certificate input"},
	} {
		_, err := New(httpCheck(long, func(o *HTTP) { o.Scheme = "https"; c.change(o) }), Target{Addr: local, Name: "a"}, false)
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestTLSHostile(t *testing.T) {
	https := func(o *HTTP) { o.Scheme, o.Verify = "https", false }
	for _, c := range []struct {
		about  string
		handle func(net.Conn)
		reason string
	}{
		{"silence", hold, "tls: no reply in 80ms"},
		{"close at once", func(net.Conn) {}, "tls: connection closed before a reply"},
		{"close after the hello", then("", func(net.Conn) {}), "tls: connection closed before a reply"},
		{"plain HTTP", then("HTTP/1.1 400 Bad Request\r\n\r\n", hold), "tls: server speaks plain HTTP on this port"},
		{"garbage", then("SSH-2.0-OpenSSH\r\n", hold), "tls: reply is not TLS"},
		{"endless garbage", then("", endless("\x00")), "tls: reply is not TLS"},
		{"alert", then("\x15\x03\x03\x00\x02\x02\x28", hold), "tls: handshake failure"},
		{"half a record", then("\x16\x03\x03\x01\x00\x02", hold), "tls: no reply in 80ms"},
		{"record in drops", trickle("\x16\x03\x03\x01\x00" + strings.Repeat("\x02", 256)), "tls: no reply in 80ms"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			want(t, run(t, httpCheck(short, https), target(serve(t, c.handle))), Fail, c.reason)
		})
	}
}

func TestTLSOldServer(t *testing.T) {
	ca := newAuthority(t)
	at := secure(t, &tls.Config{
		Certificates: []tls.Certificate{ca.sign(t, names("www.example"))},
		MinVersion:   tls.VersionTLS10, MaxVersion: tls.VersionTLS11,
	}, func(http.ResponseWriter, *http.Request) {})
	want(t, run(t, httpCheck(long, func(o *HTTP) { o.Scheme, o.CAFile = "https", ca.file }), target(at)), Fail, "tls: protocol version not supported")
}

func TestTLSRedirectFromHTTP(t *testing.T) {
	ca := newAuthority(t)
	at := secure(t, &tls.Config{Certificates: []tls.Certificate{ca.sign(t, names("www.example"))}}, func(http.ResponseWriter, *http.Request) {})
	front := web(t, moved(301, "https://www.example:"+portText(at)+"/"))
	want(t, run(t, httpCheck(long, func(o *HTTP) { o.Redirects, o.CAFile = 1, ca.file }), target(front)), Pass, "")
	want(t, run(t, httpCheck(long, func(o *HTTP) { o.Redirects = 1 }), target(front)), Fail, "certificate signed by unknown authority")
}

func TestTLSTrace(t *testing.T) {
	ca := newAuthority(t)
	pair := ca.sign(t, &x509.Certificate{DNSNames: []string{"www.example"}, NotAfter: time.Date(2099, 5, 6, 0, 0, 0, 0, time.UTC)})
	at := secure(t, &tls.Config{Certificates: []tls.Certificate{pair}}, func(http.ResponseWriter, *http.Request) {})
	c := httpCheck(long, func(o *HTTP) { o.Scheme, o.CAFile = "https", ca.file })
	p, err := New(c, target(at), true)
	if err != nil {
		t.Fatal(err)
	}
	r := Round(context.Background(), p, c)
	want(t, r, Pass, "")
	if len(r.Steps) < 2 || r.Steps[1].What != "tls" || r.Steps[1].Info != "TLS 1.3, certificate www.example, expires 2099-05-06" {
		t.Errorf("steps %v", r.Steps)
	}
}

func BenchmarkHTTPS(b *testing.B) {
	ca := newAuthority(b)
	at := secure(b, &tls.Config{Certificates: []tls.Certificate{ca.sign(b, names("www.example"))}}, func(http.ResponseWriter, *http.Request) {})
	c := httpCheck(long, func(o *HTTP) { o.Scheme, o.CAFile = "https", ca.file })
	p, err := New(c, target(at), false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := Round(context.Background(), p, c); r.Outcome != Pass {
			b.Fatal(r.Reason)
		}
	}
}
