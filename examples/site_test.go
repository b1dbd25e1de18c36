package examples_test

import (
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
	"os"
	"path/filepath"
	"testing"
	"time"
)

// site is a web server that can be stopped and started. With port 0 it has a
// free one, from its first start on.
type site struct {
	addr    string
	tls     *tls.Config // nil: plain HTTP
	handler http.HandlerFunc
	server  *http.Server // nil: down
}

// newSite starts a site; a nil handler answers 200 to everything.
func newSite(t *testing.T, addr string, handler http.HandlerFunc) *site {
	t.Helper()
	return runSite(t, &site{addr: addr, handler: handler})
}

func newTLSSite(t *testing.T, addr string, certificate tls.Certificate, handler http.HandlerFunc) *site {
	t.Helper()
	return runSite(t, &site{addr: addr, handler: handler, tls: &tls.Config{Certificates: []tls.Certificate{certificate}}})
}

func runSite(t *testing.T, s *site) *site {
	t.Helper()
	if s.handler == nil {
		s.handler = func(http.ResponseWriter, *http.Request) {}
	}
	s.set(t, true)
	t.Cleanup(func() { s.set(t, false) })
	return s
}

// set starts or stops the site; where it is so already, it does nothing.
func (s *site) set(t *testing.T, up bool) {
	t.Helper()
	switch {
	case up && s.server == nil:
		listener, err := net.Listen("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		s.addr = listener.Addr().String()
		if s.tls != nil {
			listener = tls.NewListener(listener, s.tls)
		}
		s.server = &http.Server{Handler: s.handler, ErrorLog: log.New(io.Discard, "", 0)}
		go s.server.Serve(listener)
	case !up && s.server != nil:
		s.server.Close()
		s.server = nil
		awaitRefusal(t, s.addr)
	}
}

// awaitRefusal waits until nothing takes connections at a TCP address: a socket
// that is closed while another test starts a program lives on in that one for a
// moment.
func awaitRefusal(t *testing.T, addr string) {
	t.Helper()
	for range 10_000 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		conn.Close()
		<-time.After(time.Millisecond)
	}
	t.Fatalf("something listens on %s", addr)
}

// trust makes a certificate for a name that programs started by this test
// accept: crypto/x509 reads SSL_CERT_FILE.
func trust(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		DNSNames:     []string{name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IsCA:         true,

		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
