package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func tlsCheck(timeout time.Duration, o TLS) Check {
	return Check{Name: "s", Type: "tls", Interval: 10 * time.Second, Timeout: timeout, Fall: 2, Rise: 3, TLS: &o}
}

// greet completes handshakes with a certificate and keeps the connection.
func greet(t testing.TB, cfg *tls.Config) netip.AddrPort {
	t.Helper()
	return serve(t, func(c net.Conn) {
		conn := tls.Server(c, cfg)
		if conn.Handshake() == nil {
			hold(conn)
		}
	})
}

func TestTLSCheckCertificates(t *testing.T) {
	ca, stranger := newAuthority(t), &authority{}
	ending := func(in time.Duration) *x509.Certificate {
		c := names("www.example")
		c.NotAfter = time.Now().Add(in)
		return c
	}
	const day, soon = 24 * time.Hour, time.Minute
	early := names("www.example")
	early.NotBefore = time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	early.NotAfter = early.NotBefore.Add(1000 * day)
	byIP := &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	for _, c := range []struct {
		about   string
		pair    tls.Certificate
		opts    TLS
		outcome Outcome
		reason  string
	}{
		{"good", ca.sign(t, names("www.example")), TLS{Verify: true}, Pass, ""},
		{"for another", ca.sign(t, names("other.example")), TLS{Verify: true}, Fail, "certificate is for other.example, not www.example"},
		{"sni names the other", ca.sign(t, names("other.example")), TLS{Verify: true, SNI: "other.example"}, Pass, ""},
		{"an address wanted", ca.sign(t, byIP), TLS{Verify: true, SNI: "127.0.0.1"}, Pass, ""},
		{"expired", ca.sign(t, ending(-75*time.Hour)), TLS{Verify: true}, Fail, "certificate expired 3 days ago"},
		{"expired, days wanted", ca.sign(t, ending(-75*time.Hour)), TLS{Verify: true, MinDays: 14}, Fail, "certificate expired 3 days ago"},
		{"not yet valid", ca.sign(t, early), TLS{Verify: true}, Fail, "certificate is not valid before 2100-01-02 03:04:05"},
		{"self-signed", stranger.sign(t, names("www.example")), TLS{Verify: true}, Fail, "certificate signed by unknown authority"},
		{"long enough", ca.sign(t, ending(14*day+soon)), TLS{Verify: true, MinDays: 14}, Pass, ""},
		{"5 days left", ca.sign(t, ending(5*day+soon)), TLS{Verify: true, MinDays: 14}, Fail, "certificate expires in 5 days, want 14"},
		{"almost enough", ca.sign(t, ending(14*day-soon)), TLS{Verify: true, MinDays: 14}, Fail, "certificate expires in 13 days, want 14"},
		{"hours left", ca.sign(t, ending(5*time.Hour+soon)), TLS{Verify: true, MinDays: 14}, Fail, "certificate expires in 5 hours, want 14 days"},
		{"seconds left", ca.sign(t, ending(30*time.Second)), TLS{Verify: true, MinDays: 1}, Fail, "certificate expires in less than a minute, want 1 day"},
		{"expired, not verified", ca.sign(t, ending(-75*time.Hour)), TLS{}, Pass, ""},
		{"self-signed, not verified", stranger.sign(t, names("other.example")), TLS{}, Pass, ""},
		{"not verified, days wanted", stranger.sign(t, ending(5*day+soon)), TLS{MinDays: 14}, Fail, "certificate expires in 5 days, want 14"},
		{"not verified, expired, days wanted", stranger.sign(t, ending(-75*time.Hour)), TLS{MinDays: 14}, Fail, "certificate expired 3 days ago"},
		{"not verified, not yet valid, days wanted", stranger.sign(t, early), TLS{MinDays: 1}, Fail, "certificate is not valid before 2100-01-02 03:04:05"},
	} {
		at := greet(t, &tls.Config{Certificates: []tls.Certificate{c.pair}})
		t.Run(c.about, func(t *testing.T) {
			o := c.opts
			o.CAFile = ca.file
			want(t, run(t, tlsCheck(long, o), target(at)), c.outcome, c.reason)
		})
	}
	at := greet(t, &tls.Config{Certificates: []tls.Certificate{ca.sign(t, names("www.example"))}})
	want(t, run(t, tlsCheck(long, TLS{Verify: true}), target(at)), Fail, "certificate signed by unknown authority")
}

// Only the server's own certificate is asked for its days.
func TestTLSCheckLifetime(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		left time.Duration
		days int
		want string
	}{
		{0, 0, ""},
		{-day, 0, ""},
		{day, 1, ""},
		{day - 1, 1, "certificate expires in 23 hours, want 1 day"},
		{2*day - 1, 2, "certificate expires in 1 day, want 2"},
		{0, 1, "certificate expires in less than a minute, want 1 day"},
		{-time.Second, 1, "certificate expired less than a minute ago"},
		{3650 * day, 3650, ""},
	} {
		p := tlsProber{minDays: c.days, now: func() time.Time { return now }}
		got := ""
		if f := p.lifetime(&x509.Certificate{NotBefore: now, NotAfter: now.Add(c.left)}); f != nil {
			got = f.reason
		}
		if got != c.want {
			t.Errorf("%s left, want %d days: %q, want %q", c.left, c.days, got, c.want)
		}
	}
}

func TestTLSCheckServerName(t *testing.T) {
	ca := newAuthority(t)
	seen := make(chan string, 1)
	cfg := &tls.Config{Certificates: []tls.Certificate{ca.sign(t, names("*.example"))}}
	cfg.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) { seen <- h.ServerName; return nil, nil }
	at := greet(t, cfg)
	for _, c := range []struct{ owner, sni, want string }{
		{"www.example", "", "www.example"}, {"*.example", "", "probe.example"},
		{"www.example", "b.example", "b.example"}, {"", "", ""}, // an address is no SNI (RFC 6066 section 3)
	} {
		to := target(at)
		to.Name = c.owner
		got := run(t, tlsCheck(long, TLS{Verify: c.want != "", CAFile: ca.file, SNI: c.sni}), to)
		want(t, got, Pass, "")
		if name := <-seen; name != c.want {
			t.Errorf("sni %q, want %q", name, c.want)
		}
	}
}

func TestTLSCheckHostile(t *testing.T) {
	for _, c := range []struct {
		about  string
		handle func(net.Conn)
		reason string
	}{
		{"silence", hold, "tls: no reply in 80ms"},
		{"close at once", func(net.Conn) {}, "tls: connection closed before a reply"},
		{"reset", then("", reset), "tls: connection closed before a reply"},
		{"plain HTTP", then("HTTP/1.1 400 Bad Request\r\n\r\n", hold), "tls: server speaks plain HTTP on this port"},
		{"garbage", then("SSH-2.0-OpenSSH\r\n", hold), "tls: reply is not TLS"},
		{"endless garbage", then("", endless("\x00")), "tls: reply is not TLS"},
		{"alert", then("\x15\x03\x03\x00\x02\x02\x28", hold), "tls: handshake failure"},
		{"half a record", then("\x16\x03\x03\x01\x00\x02", hold), "tls: no reply in 80ms"},
		{"record in drops", trickle("\x16\x03\x03\x01\x00" + strings.Repeat("\x02", 256)), "tls: no reply in 80ms"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			want(t, run(t, tlsCheck(short, TLS{MinDays: 1}), target(serve(t, c.handle))), Fail, c.reason)
		})
	}
	want(t, run(t, tlsCheck(long, TLS{}), target(closedPort(t))), Fail, "connect: connection refused")
}

func TestTLSCheckFiles(t *testing.T) {
	_, err := New(tlsCheck(long, TLS{CAFile: "/nonexistent"}), Target{Addr: local}, false)
	if err == nil || err.Error() != "ca_file: open /nonexistent: no such file or directory" {
		t.Errorf("got %v", err)
	}
}

func TestTLSCheckCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	at := serve(t, func(c net.Conn) { cancel(); hold(c) })
	c := tlsCheck(long, TLS{})
	p, err := New(c, target(at), false)
	if err != nil {
		t.Fatal(err)
	}
	want(t, Round(ctx, p, c), Fault, "cancelled")
}

// The peer sees an end that is meant, and the steps show the certificate.
func TestTLSCheckTrace(t *testing.T) {
	ca := newAuthority(t)
	pair := ca.sign(t, &x509.Certificate{DNSNames: []string{"www.example"}, NotAfter: time.Date(2099, 5, 6, 0, 0, 0, 0, time.UTC)})
	ends := make(chan error, 1)
	at := serve(t, func(c net.Conn) {
		conn := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}, MaxVersion: tls.VersionTLS12})
		_, err := io.Copy(io.Discard, conn)
		ends <- err
	})
	c := tlsCheck(long, TLS{Verify: true, CAFile: ca.file, MinDays: 36500})
	p, err := New(c, target(at), true)
	if err != nil {
		t.Fatal(err)
	}
	r := Round(context.Background(), p, c)
	if r.Outcome != Fail || !strings.HasSuffix(r.Reason, " days, want 36500") || len(r.Steps) != 2 ||
		r.Steps[0].What != "connect" || r.Steps[0].Info != at.String() ||
		r.Steps[1].What != "tls" || r.Steps[1].Info != "TLS 1.2, certificate www.example, expires 2099-05-06" {
		t.Errorf("got %+v", r)
	}
	if err := <-ends; err != nil {
		t.Errorf("the peer saw %v", err)
	}
}
