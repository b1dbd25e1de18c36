package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

type grpcProber struct {
	common
	opts   GRPC
	remote netip.AddrPort
	name   string      // what is asked for as host
	config *tls.Config // nil without TLS
}

func newGRPC(c Check, t Target, base common) (Prober, error) {
	p := &grpcProber{common: base, opts: *c.GRPC, remote: netip.AddrPortFrom(t.Addr, c.Port(t)), name: c.GRPC.serverName(t)}
	if !p.opts.TLS {
		return p, nil
	}
	roots, err := authorities(p.opts.CAFile)
	if err != nil {
		return nil, err
	}
	p.config = &tls.Config{ServerName: p.name, InsecureSkipVerify: !p.opts.Verify, RootCAs: roots, NextProtos: []string{"h2"}}
	return p, nil
}

// serverName is the host of :authority and, with TLS, of the certificate.
func (o *GRPC) serverName(t Target) string {
	if o.SNI != "" {
		return o.SNI
	}
	return strings.TrimSuffix(t.askedName(), ".")
}

// authority is the name as :authority shows it.
func (p *grpcProber) authority() string {
	if addr, err := netip.ParseAddr(p.name); err == nil && addr.Is6() {
		return "[" + p.name + "]"
	}
	return p.name
}

// Probe asks grpc.health.v1.Health/Check over a new connection.
func (p *grpcProber) Probe(ctx context.Context) Result {
	tr := p.begin()
	conn, f := p.connect(ctx, tr)
	if f != nil {
		return tr.end(f)
	}
	// The library takes seconds to give up a peer that reads nothing. What the
	// connection rests on is closed with the time, whatever is still written.
	defer context.AfterFunc(ctx, func() { conn.tcp.Close() })()
	defer conn.Close()
	reply, err := p.check(ctx, conn)
	r := tr.pass()
	switch {
	case err != nil:
		return tr.end(p.explain(ctx, conn, err))
	case reply != healthpb.HealthCheckResponse_SERVING:
		return tr.end(failed("service %s is %s", quote(p.opts.Service), reply))
	}
	tr.add("reply", "service %s is %s", quote(p.opts.Service), reply)
	r.Steps = tr.steps
	return r
}

// connect opens the connection that the library then speaks over: so it has
// none of its own ideas about where to connect, and errors keep their causes.
func (p *grpcProber) connect(ctx context.Context, tr *tracer) (*grpcConn, *failure) {
	tcp, f := p.dial(ctx, p.local, p.remote)
	if f != nil {
		return nil, f
	}
	tr.add("connect", "%s", p.remote)
	if p.config == nil {
		return &grpcConn{Conn: tcp, tcp: tcp}, nil
	}
	unguard := guard(ctx, tcp)
	conn := tls.Client(tcp, p.config)
	err := conn.Handshake()
	state := conn.ConnectionState()
	switch {
	case err != nil && strings.HasSuffix(err.Error(), "no application protocol"):
		f = failed("server does not offer HTTP/2")
	case err != nil:
		f = p.tlsFailure(ctx, err, p.name)
	default:
		tr.negotiated(&state)
	}
	if f == nil && state.NegotiatedProtocol != "h2" {
		f = failed("server does not offer HTTP/2")
	}
	if f == nil && unguard() {
		_ = tcp.SetDeadline(time.Time{})
		return &grpcConn{Conn: conn, tcp: tcp}, nil
	}
	tcp.Close()
	if f == nil { // the time ran out just now
		f = classify(ctx, "tls", context.Cause(ctx), p.timeout)
	}
	return nil, f
}

// check makes the call. The library's own ways to try again, to reconnect, to
// find a server and to be told how by a name service are off.
func (p *grpcProber) check(ctx context.Context, conn *grpcConn) (healthpb.HealthCheckResponse_ServingStatus, error) {
	client, err := grpc.NewClient("passthrough:///"+p.remote.String(),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return conn.once() }),
		grpc.WithTransportCredentials(grpcCredentials{p.config != nil}),
		grpc.WithAuthority(p.authority()), grpc.WithUserAgent("gslbd"),
		grpc.WithNoProxy(), grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(), grpc.WithDisableHealthCheck(),
		grpc.WithIdleTimeout(0), grpc.WithMaxHeaderListSize(maxRead),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 2 * p.timeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxRead)))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	reply, err := healthpb.NewHealthClient(client).Check(ctx, &healthpb.HealthCheckRequest{Service: p.opts.Service})
	conn.over()
	return reply.GetStatus(), err
}
