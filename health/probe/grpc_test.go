package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

func grpcCheck(timeout time.Duration, o GRPC) Check {
	return Check{Name: "g", Type: "grpc", Interval: 10 * time.Second, Timeout: timeout, Fall: 2, Rise: 3, GRPC: &o}
}

// checker answers the health service's Check with a function.
type checker struct {
	healthpb.UnimplementedHealthServer
	check func(ctx context.Context, service string) (healthpb.HealthCheckResponse_ServingStatus, error)
}

func (c checker) Check(ctx context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	s, err := c.check(ctx, r.Service)
	return &healthpb.HealthCheckResponse{Status: s}, err
}

// grpcServer serves the health service, or nothing if check is nil.
func grpcServer(t testing.TB, check func(context.Context, string) (healthpb.HealthCheckResponse_ServingStatus, error), opts ...grpc.ServerOption) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(opts...)
	if check != nil {
		healthpb.RegisterHealthServer(s, checker{check: check})
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return netip.MustParseAddrPort(l.Addr().String())
}

func says(s healthpb.HealthCheckResponse_ServingStatus, err error) func(context.Context, string) (healthpb.HealthCheckResponse_ServingStatus, error) {
	return func(context.Context, string) (healthpb.HealthCheckResponse_ServingStatus, error) { return s, err }
}

func TestGRPC(t *testing.T) {
	const serving = healthpb.HealthCheckResponse_SERVING
	long100 := strings.Repeat("x", 300)
	for _, c := range []struct {
		about   string
		check   func(context.Context, string) (healthpb.HealthCheckResponse_ServingStatus, error)
		outcome Outcome
		reason  string
	}{
		{"serving", says(serving, nil), Pass, ""},
		{"not serving", says(healthpb.HealthCheckResponse_NOT_SERVING, nil), Fail, `service "shop" is NOT_SERVING`},
		{"unknown", says(healthpb.HealthCheckResponse_UNKNOWN, nil), Fail, `service "shop" is UNKNOWN`},
		{"service unknown", says(healthpb.HealthCheckResponse_SERVICE_UNKNOWN, nil), Fail, `service "shop" is SERVICE_UNKNOWN`},
		{"a number without name", says(42, nil), Fail, `service "shop" is 42`},
		{"not found", says(0, status.Error(codes.NotFound, "unknown service")), Fail, `service "shop" is unknown to the server`},
		{"no such method", nil, Fail, "server does not implement grpc.health.v1"},
		{"unavailable", says(0, status.Error(codes.Unavailable, "draining")), Fail, `gRPC status UNAVAILABLE: "draining"`},
		{"denied", says(0, status.Error(codes.PermissionDenied, "")), Fail, "gRPC status PERMISSION_DENIED"},
		{"cancelled by the server", says(0, status.Error(codes.Canceled, "no")), Fail, `gRPC status CANCELLED: "no"`},
		{"long message", says(0, status.Error(codes.Internal, long100)), Fail, `gRPC status INTERNAL: "` + strings.Repeat("x", 98) + `"…`},
		{"message with line ends", says(0, status.Error(codes.Internal, "a\nb\x1b")), Fail, `gRPC status INTERNAL: "a\nb\x1b"`},
	} {
		t.Run(c.about, func(t *testing.T) {
			at := grpcServer(t, c.check)
			want(t, run(t, grpcCheck(long, GRPC{Service: "shop"}), target(at)), c.outcome, c.reason)
		})
	}
}

// What is asked: the service, under the owner's name, over a connection of its
// own each time.
func TestGRPCRequest(t *testing.T) {
	type seen struct{ service, authority, from string }
	asked := make(chan seen, 1)
	at := grpcServer(t, func(ctx context.Context, service string) (healthpb.HealthCheckResponse_ServingStatus, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		p, _ := peer.FromContext(ctx)
		asked <- seen{service, strings.Join(md.Get(":authority"), ","), p.Addr.String()}
		return healthpb.HealthCheckResponse_SERVING, nil
	})
	six := target(at)
	six.Name = ""
	wild := target(at)
	wild.Name = "*.cdn.example"
	last := ""
	for _, c := range []struct {
		o    GRPC
		to   Target
		want seen
	}{
		{GRPC{}, target(at), seen{"", "www.example", ""}},
		{GRPC{Service: "pkg.Shop"}, target(at), seen{"pkg.Shop", "www.example", ""}},
		{GRPC{SNI: "inner.example"}, target(at), seen{"", "inner.example", ""}},
		{GRPC{SNI: "::1"}, target(at), seen{"", "[::1]", ""}},
		{GRPC{}, wild, seen{"", "probe.cdn.example", ""}},
		{GRPC{}, six, seen{"", "127.0.0.1", ""}},
	} {
		want(t, run(t, grpcCheck(long, c.o), c.to), Pass, "")
		got := <-asked
		if got.from == last || !strings.HasPrefix(got.from, "127.0.0.1:") {
			t.Errorf("asked from %s after %s", got.from, last)
		}
		last, got.from = got.from, ""
		if got != c.want {
			t.Errorf("asked %+v, want %+v", got, c.want)
		}
	}
}

func TestGRPCTLS(t *testing.T) {
	ca := newAuthority(t)
	with := func(names ...string) grpc.ServerOption {
		cert := ca.sign(t, namesOf(names))
		return grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{cert}}))
	}
	serving := says(healthpb.HealthCheckResponse_SERVING, nil)
	right, other := grpcServer(t, serving, with("www.example")), grpcServer(t, serving, with("other.example"))
	expired := ca.sign(t, namesOf([]string{"www.example"}, -72*time.Hour-time.Minute))
	old := grpcServer(t, serving, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{expired}})))
	plainText := grpcServer(t, serving)
	quiet := &tls.Config{Certificates: []tls.Certificate{ca.sign(t, names("www.example"))}}
	http1 := quiet.Clone()
	http1.NextProtos = []string{"http/1.1"}
	for _, c := range []struct {
		about   string
		o       GRPC
		at      netip.AddrPort
		outcome Outcome
		reason  string
	}{
		{"verified", GRPC{TLS: true, Verify: true, CAFile: ca.file}, right, Pass, ""},
		{"not asked to verify", GRPC{TLS: true}, other, Pass, ""},
		{"other name configured", GRPC{TLS: true, Verify: true, CAFile: ca.file, SNI: "other.example"}, other, Pass, ""},
		{"wrong name", GRPC{TLS: true, Verify: true, CAFile: ca.file}, other, Fail, "certificate is for other.example, not www.example"},
		{"unknown authority", GRPC{TLS: true, Verify: true}, right, Fail, "certificate signed by unknown authority"},
		{"expired", GRPC{TLS: true, Verify: true, CAFile: ca.file}, old, Fail, "certificate expired 3 days ago"},
		{"no ALPN", GRPC{TLS: true, Verify: true, CAFile: ca.file}, secureHold(t, quiet), Fail, "server does not offer HTTP/2"},
		{"HTTP/1.1 alone", GRPC{TLS: true, Verify: true, CAFile: ca.file}, secureHold(t, http1), Fail, "server does not offer HTTP/2"},
		{"the server speaks no TLS", GRPC{TLS: true}, plainText, Fail, "tls: reply is not TLS"},
		{"the probe speaks no TLS", GRPC{}, right, Fail, "connection closed before a reply"},
	} {
		t.Run(c.about, func(t *testing.T) {
			got := run(t, grpcCheck(long, c.o), target(c.at))
			if c.about == "the probe speaks no TLS" && strings.HasPrefix(got.Reason, "not a gRPC server: ") {
				return // the alert came first
			}
			want(t, got, c.outcome, c.reason)
		})
	}
	if _, err := New(grpcCheck(long, GRPC{TLS: true, CAFile: "/nonexistent"}), target(right), false); err == nil ||
		err.Error() != "ca_file: open /nonexistent: no such file or directory" {
		t.Errorf("got %v", err)
	}
}

func namesOf(n []string, end ...time.Duration) (c *x509.Certificate) {
	c = names(n...)
	for _, e := range end {
		c.NotAfter = time.Now().Add(e)
	}
	return c
}

// secureHold completes handshakes and says nothing more.
func secureHold(t testing.TB, cfg *tls.Config) netip.AddrPort {
	return serve(t, func(conn net.Conn) { hold(tls.Server(conn, cfg)) })
}

// Servers of other kinds, and those that misbehave.
func TestGRPCHostile(t *testing.T) {
	web := func(code int, kind string) netip.AddrPort {
		at, _ := web2(t, false, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "<html>")
		})
		return at
	}
	const (
		settings  = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
		brokenOff = "server broke off HTTP/2 (GOAWAY or an invalid frame)"
	)
	for _, c := range []struct {
		about  string
		at     netip.AddrPort
		reason string
	}{
		{"nothing listens", closedPort(t), "connect: connection refused"},
		{"no word", serve(t, hold), "no reply in 80ms"},
		{"settings, then no word", serve(t, opening(settings, hold)), "no reply in 80ms"},
		{"slower than the timeout", serve(t, trickle(settings+strings.Repeat(settings, 9))), "no reply in 80ms"},
		{"closed at once", serve(t, func(net.Conn) {}), "connection closed before a reply"},
		{"reset at once", serve(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); reset(c) }), "connection closed before a reply"},
		{"closed after settings", serve(t, opening(settings, func(net.Conn) {})), "connection closed before a reply"},
		{"SSH", serve(t, opening("SSH-2.0-OpenSSH\r\n", hold)), `not a gRPC server: "SSH-2.0-OpenSSH"`},
		{"short banner", serve(t, opening("220 x\n", hold)), `not a gRPC server: "220 x"`},
		{"HTTP/1.1", serve(t, opening("HTTP/1.1 400 Bad Request\r\n\r\n", hold)), `not a gRPC server: "HTTP/1.1 400 Bad Request"`},
		{"endless garbage", serve(t, endless("garbage ")), `not a gRPC server: "` + strings.Repeat("garbage ", 12) + `ga"…`},
		{"GOAWAY", serve(t, opening(settings+"\x00\x00\x08\x07\x00\x00\x00\x00\x00"+strings.Repeat("\x00", 8), hold)), brokenOff},
		{"garbage after settings", serve(t, opening(settings+strings.Repeat("garbage", 99), hold)), brokenOff},
		{"settings that no one may have", serve(t, opening("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\xff\xff\xff\xff", hold)), brokenOff},
		{"HTTP/2, 404", web(404, "text/html"), "not a gRPC server: HTTP status 404 (Not Found)"},
		{"HTTP/2, 503", web(503, "text/html"), "not a gRPC server: HTTP status 503 (Service Unavailable)"},
		{"HTTP/2, 200", web(200, "text/html"), "not a gRPC server: HTTP status 200 (OK)"},
		{"a body that is no message", web(200, "application/grpc"), `gRPC status RESOURCE_EXHAUSTED: "grpc: received message larger than max (1752460652 vs. 65536)"`},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			want(t, run(t, grpcCheck(short, GRPC{}), target(c.at)), Fail, c.reason)
		})
	}
}

// A server that wants answers without end and reads none of them does not hold
// a try up beyond its timeout, with TLS or without.
func TestGRPCFloodEndsInTime(t *testing.T) {
	const settings, ping = "\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"
	flood := opening(settings, endless(strings.Repeat(ping, 500)))
	cfg := &tls.Config{Certificates: []tls.Certificate{newAuthority(t).sign(t, names("www.example"))}, NextProtos: []string{"h2"}}
	secure := serve(t, func(conn net.Conn) { flood(tls.Server(conn, cfg)) })
	for _, c := range []struct {
		at      netip.AddrPort
		options GRPC
	}{{serve(t, flood), GRPC{}}, {secure, GRPC{TLS: true}}} {
		// On a busy machine a try may end before the flood begins: then the next has more time.
		for timeout := 4 * short; ; timeout *= 4 {
			start := time.Now()
			result := run(t, grpcCheck(timeout, c.options), target(c.at))
			took := time.Since(start)
			if strings.Contains(result.Reason, ": ") && timeout < 5*time.Second {
				continue
			}
			want(t, result, Fail, fmt.Sprintf("no reply in %s", timeout))
			if took > timeout+2*time.Second {
				t.Errorf("tls %t: the try took %s", c.options.TLS, took)
			}
			break
		}
	}
}

// opening writes text at once, reads what comes meanwhile, and goes on.
func opening(text string, next func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = io.WriteString(conn, text)
		next(conn)
	}
}

// A server that answers late, or with a deadline of its own, is one that does
// not reply in time. A retry is a new call on a new connection.
func TestGRPCSlowAndRetried(t *testing.T) {
	var calls atomic.Int32
	release := make(chan struct{})
	at := grpcServer(t, func(ctx context.Context, _ string) (healthpb.HealthCheckResponse_ServingStatus, error) {
		if calls.Add(1) < 3 {
			select {
			case <-ctx.Done():
			case <-release:
			}
			return 0, status.FromContextError(ctx.Err()).Err()
		}
		return healthpb.HealthCheckResponse_SERVING, nil
	})
	defer close(release)
	c := grpcCheck(short, GRPC{})
	want(t, run(t, c, target(at)), Fail, "no reply in 80ms")
	c.Retries = 1
	want(t, run(t, c, target(at)), Pass, "")
	if n := calls.Load(); n != 3 {
		t.Errorf("%d calls", n)
	}
}

func TestGRPCCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	at := grpcServer(t, func(call context.Context, _ string) (healthpb.HealthCheckResponse_ServingStatus, error) {
		cancel()
		<-call.Done()
		return 0, call.Err()
	})
	c := grpcCheck(long, GRPC{})
	p, err := New(c, target(at), false)
	if err != nil {
		t.Fatal(err)
	}
	want(t, Round(ctx, p, c), Fault, "cancelled")
}

func TestGRPCTrace(t *testing.T) {
	ca := newAuthority(t)
	cert := ca.sign(t, names("www.example"))
	at := grpcServer(t, says(healthpb.HealthCheckResponse_SERVING, nil), grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{cert}})))
	p, err := New(grpcCheck(long, GRPC{TLS: true, Verify: true, CAFile: ca.file}), target(at), true)
	if err != nil {
		t.Fatal(err)
	}
	got := p.Probe(context.Background())
	want(t, got, Pass, "")
	var steps []string
	for _, s := range got.Steps {
		steps = append(steps, s.What+" "+s.Info)
	}
	text := strings.Join(steps, "\n")
	if len(steps) != 3 || !strings.HasPrefix(text, "connect "+at.String()+"\ntls TLS 1.3, certificate www.example, expires ") ||
		!strings.HasSuffix(text, "\nreply service \"\" is SERVING") {
		t.Errorf("steps:\n%s", text)
	}
}

// The environment of the process must not send probes elsewhere.
func TestGRPCNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://"+closedPort(t).String())
	t.Setenv("HTTP_PROXY", "http://"+closedPort(t).String())
	at := grpcServer(t, says(healthpb.HealthCheckResponse_SERVING, nil))
	want(t, run(t, grpcCheck(long, GRPC{}), target(at)), Pass, "")
}

func TestGRPCSource(t *testing.T) {
	from := make(chan string, 1)
	at := grpcServer(t, func(ctx context.Context, _ string) (healthpb.HealthCheckResponse_ServingStatus, error) {
		p, _ := peer.FromContext(ctx)
		from <- p.Addr.String()
		return healthpb.HealthCheckResponse_SERVING, nil
	})
	c := grpcCheck(long, GRPC{})
	c.Source = []netip.Addr{netip.MustParseAddr("127.0.0.9")}
	want(t, run(t, c, target(at)), Pass, "")
	if got := <-from; !strings.HasPrefix(got, "127.0.0.9:") {
		t.Errorf("asked from %s", got)
	}
	c.Source = []netip.Addr{netip.MustParseAddr("192.0.2.9")}
	want(t, run(t, c, target(at)), Fault, "source 192.0.2.9 is not an address of this machine")
}
