//go:build unix

package health

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gslbd/health/probe"
)

// peer is a hostile server, what asks it, and what status says of it.
type peer struct {
	name   string
	check  probe.Check
	at     netip.AddrPort
	reason string
}

const tryTime = 150 * time.Millisecond

// asking is a check of a peer: often, and with little patience.
func asking(typ string, change func(*probe.Check)) probe.Check {
	c := probe.Check{Type: typ, Interval: 100 * time.Millisecond, Timeout: tryTime, Fall: 2, Rise: 3}
	change(&c)
	return c
}

func asksHTTP(change ...func(*probe.HTTP)) probe.Check {
	h := &probe.HTTP{Scheme: "http", Method: "GET", Path: "/", Status: []probe.StatusRange{{Low: 200, High: 299}}, Version: "1.1", Verify: true}
	for _, f := range change {
		f(h)
	}
	return asking("http", func(c *probe.Check) { c.HTTP = h })
}

// peerOn takes connections and hands each to handle, until the test ends.
func peerOn(t *testing.T, handle func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(2 * tryTime))
				handle(conn)
			}()
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String())
}

// replying sends first after a request, and then more until nobody reads.
func replying(first, more string) func(net.Conn) {
	more = strings.Repeat(more, 1000)
	return func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		_, err := io.WriteString(conn, first)
		for more != "" && err == nil {
			_, err = io.WriteString(conn, more)
		}
	}
}

// flooding sends for as long as somebody reads.
func flooding(conn net.Conn) {
	text := strings.Repeat("x", 4096)
	for {
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

func trickling(conn net.Conn) {
	tick := time.NewTicker(tryTime / 3)
	defer tick.Stop()
	for _, b := range []byte("HTTP/1.1 200 OK\r\n\r\n") {
		if _, err := conn.Write([]byte{b}); err != nil {
			return
		}
		<-tick.C
	}
}

// strange answers datagrams from another port than it was asked on.
func strange(t *testing.T) netip.AddrPort {
	t.Helper()
	asked, errAsked := net.ListenPacket("udp", "127.0.0.1:0")
	other, errOther := net.ListenPacket("udp", "127.0.0.2:0")
	if errAsked != nil || errOther != nil {
		t.Fatal(errAsked, errOther)
	}
	t.Cleanup(func() { asked.Close(); other.Close() })
	go func() {
		buf := make([]byte, 100)
		for {
			_, from, err := asked.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = other.WriteTo([]byte("PONG"), from)
		}
	}()
	return netip.MustParseAddrPort(asked.LocalAddr().String())
}

// authority signs certificates; its own stands in file.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, file: filepath.Join(t.TempDir(), "ca.pem")}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-1000 * time.Hour), NotAfter: time.Now().Add(1000 * time.Hour)}
	der := a.sign(t, a.cert)
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *authority) sign(t *testing.T, cert *x509.Certificate) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// server speaks TLS with a certificate for name that ends as said.
func (a *authority) server(t *testing.T, name string, end time.Time) netip.AddrPort {
	t.Helper()
	der := a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{name},
		NotBefore: time.Now().Add(-999 * time.Hour), NotAfter: end})
	cfg := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: a.key}}}
	return peerOn(t, func(conn net.Conn) { _ = tls.Server(conn, cfg).Handshake() })
}

func tlsPeers(t *testing.T) []peer {
	mine, other := newAuthority(t), newAuthority(t)
	secure := asksHTTP(func(h *probe.HTTP) { h.Scheme, h.Host, h.CAFile = "https", "www.example.com", mine.file })
	later := time.Now().Add(time.Hour)
	return []peer{
		{"expired", secure, mine.server(t, "www.example.com", time.Now().Add(-75*time.Hour)), "certificate expired 3 days ago"},
		{"wrong name", secure, mine.server(t, "other.example", later), "certificate is for other.example, not www.example.com"},
		{"another authority", secure, other.server(t, "www.example.com", later), "certificate signed by unknown authority"},
	}
}

func hostilePeers(t *testing.T) []peer {
	const ok = "HTTP/1.1 200 OK\r\n"
	follow := asksHTTP(func(h *probe.HTTP) { h.Redirects = 3 })
	body := asksHTTP(func(h *probe.HTTP) { h.ExpectBodyRegex = regexp.MustCompile("OK") })
	moved := func(to string) netip.AddrPort {
		return peerOn(t, replying("HTTP/1.1 302 Found\r\nLocation: "+to+"\r\nContent-Length: 0\r\n\r\n", ""))
	}
	udp := asking("udp", func(c *probe.Check) { c.UDP = &probe.UDP{Send: []byte("PING"), Expect: []byte("PONG")} })
	banner := asking("tcp", func(c *probe.Check) { c.TCP = &probe.TCP{Expect: []byte("220 ")} })
	return append(tlsPeers(t),
		peer{"closes at once", asksHTTP(), peerOn(t, func(net.Conn) {}), "connection closed before a reply"},
		peer{"a byte now and then", asksHTTP(), peerOn(t, trickling), "reply incomplete after 150ms"},
		peer{"garbage", asksHTTP(), peerOn(t, replying("\x00\x1b[31m\xff", "")), `reply is not HTTP: "\x00\x1b[31m\xff"`},
		peer{"endless header", asksHTTP(), peerOn(t, replying(ok, "X-A: b\r\n")), "response header is longer than 64 KiB"},
		peer{"10 GiB of body", body, peerOn(t, replying(ok+"Content-Length: 10737418240\r\n\r\n", "x")),
			`body does not match "OK" in its first 64 KiB`},
		peer{"redirect loop", follow, moved("/"), "more than 3 redirects"},
		peer{"redirect elsewhere", follow, moved("http://other.example/"), "redirect to other.example refused (redirect_to: same-host)"},
		peer{"HTTP/2 only", asksHTTP(), peerOn(t, replying("\x00\x00\x00\x04\x00\x00\x00\x00\x00", "")), "reply is HTTP/2, want HTTP/1.1"},
		peer{"endless banner", banner, peerOn(t, flooding), `banner does not contain "220 " in its first 64 KiB`},
		peer{"another sender", udp, strange(t), "no reply in 150ms"})
}
