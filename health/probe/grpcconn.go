package probe

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// grpcConn is a connection that is ready for HTTP/2. It remembers what the
// library's errors do not tell: how the peer began, and how it ended.
type grpcConn struct {
	net.Conn
	tcp net.Conn // what Conn rests on; itself without TLS

	mu            sync.Mutex
	given         int    // how often it was asked for
	done, dropped bool   // the call ended; the library closed before that
	first         []byte // of what was read, at most maxText and one more
	ended         error
}

// once hands the connection out a single time: a try has no second one.
func (c *grpcConn) once() (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.given++; c.given > 1 {
		return nil, errors.New("one connection for one try")
	}
	return c, nil
}

// Close notes whether the library closes the connection before the call ended.
func (c *grpcConn) Close() error {
	c.mu.Lock()
	c.dropped = c.dropped || !c.done
	c.mu.Unlock()
	return c.Conn.Close()
}

// over says that the call has ended.
func (c *grpcConn) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
}

// gaveUp tells whether message is the library's own, for a connection that it
// did not go on with: the peer sent GOAWAY or what no frame may be.
func (c *grpcConn) gaveUp(message string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := strings.HasPrefix(message, "connection error: ") || strings.HasPrefix(message, "error reading from server: ")
	return own && (c.given > 1 || c.dropped)
}

// Read notes the beginning and the end of what the peer sends.
func (c *grpcConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first = append(c.first, b[:min(n, maxText+1-len(c.first))]...)
	c.note(err)
	return n, err
}

// Write notes the end too: which of the two sees it first is chance.
func (c *grpcConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(err)
	return n, err
}

func (c *grpcConn) note(err error) {
	if c.ended == nil {
		c.ended = err
	}
}

// seen tells whether the peer closed the connection, and the first line of
// what it said if that is not the SETTINGS frame with which a server begins
// (RFC 9113 section 3.4).
func (c *grpcConn) seen() (ended bool, other string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const kind, settings = 3, 4 // where a frame's type stands, and the wanted one
	if len(c.first) > kind && c.first[kind] != settings {
		line, _, _ := bytes.Cut(c.first, []byte("\n"))
		other = strings.TrimSpace(string(line))
	}
	return closed(c.ended), other
}

// explain turns the library's error into a failure.
func (p *grpcProber) explain(ctx context.Context, conn *grpcConn, err error) *failure {
	s := status.Convert(err)
	ended, other := conn.seen()
	odd, isHTTP := strings.CutPrefix(s.Message(), "unexpected HTTP status code received from server: ")
	switch {
	case ctx.Err() == context.Canceled:
		return fault(cancelled)
	case other != "":
		return failed("not a gRPC server: %s", quote(other))
	case s.Code() == codes.DeadlineExceeded, ctx.Err() != nil:
		return failed("no reply in %s", p.timeout)
	case isHTTP:
		odd, _, _ = strings.Cut(odd, ";")
		return failed("not a gRPC server: HTTP status %s", plain(odd))
	case s.Code() == codes.Unimplemented:
		return failed("server does not implement grpc.health.v1")
	case s.Code() == codes.NotFound:
		return failed("service %s is unknown to the server", quote(p.opts.Service))
	case ended && s.Code() == codes.Unavailable:
		return failed("connection closed before a reply")
	case s.Code() == codes.Unavailable && conn.gaveUp(s.Message()):
		return failed("server broke off HTTP/2 (GOAWAY or an invalid frame)")
	case s.Message() == "":
		return failed("gRPC status %s", codeName(s.Code()))
	}
	return failed("gRPC status %s: %s", codeName(s.Code()), quote(s.Message()))
}

// codeName is a status code as the gRPC specification writes it.
func codeName(c codes.Code) string {
	name := c.String()
	if c == codes.Canceled {
		name = "Cancelled"
	}
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' && c != codes.OK {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

// grpcCredentials take a connection as it is. They tell the library whether it
// is secured, which :scheme follows from.
type grpcCredentials struct{ tls bool }

// ClientHandshake has nothing left to do.
func (g grpcCredentials) ClientHandshake(_ context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return conn, grpcAuth{}, nil
}

// ServerHandshake is for servers, and there is none here.
func (g grpcCredentials) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("not a server")
}

// Info names the protocol, by which the library chooses the scheme.
func (g grpcCredentials) Info() credentials.ProtocolInfo {
	if g.tls {
		return credentials.ProtocolInfo{SecurityProtocol: "tls"}
	}
	return credentials.ProtocolInfo{SecurityProtocol: "insecure"}
}

// Clone gives a copy.
func (g grpcCredentials) Clone() credentials.TransportCredentials { return g }

// OverrideServerName does nothing: the name was asked for before.
func (g grpcCredentials) OverrideServerName(string) error { return nil }

type grpcAuth struct{ credentials.CommonAuthInfo }

// AuthType names what secured the connection: nothing that the library knows.
func (grpcAuth) AuthType() string { return "ready" }
