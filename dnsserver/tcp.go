package dnsserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/zap"
)

// tcpShared is what the TCP listeners of one server have in common: limits, counters, connections, and the memory of those that ended.
type tcpShared struct {
	limits    atomic.Pointer[TCPLimits]
	pool      tcpPool
	log       *zap.Logger
	guard     *guard
	sessions  sync.Pool // of *tcpSession
	counters  counters
	outcomes  AnswerCounts
	accepted  atomic.Uint64
	refused   atomic.Uint64
	exhausted atomic.Uint64
	timedOut  atomic.Uint64
}

func newTCPShared(s *Server) *tcpShared {
	t := &tcpShared{log: s.opts.Log, guard: &s.guard}
	t.pool.clients = map[netip.Prefix]int{}
	t.sessions.New = func() any { return &tcpSession{shared: t, responder: s.newResponder(&t.outcomes)} }
	return t
}

// stats gives the counters of TCP.
func (t *tcpShared) stats() (s Stats) {
	t.counters.addTo(&s.TCP)
	t.outcomes.AddTo(&s.Outcomes)
	s.Connections, s.Refused, s.Evicted = t.accepted.Load(), t.refused.Load(), t.pool.evicted.Load()
	s.Exhausted, s.TimedOut, s.Open = t.exhausted.Load(), t.timedOut.Load(), t.pool.size()
	return s
}

// admit takes a new connection in, or closes it and gives nil.
func (t *tcpShared) admit(conn net.Conn, l *tcpListener) *tcpConn {
	c := &tcpConn{Conn: conn, owner: l}
	if addr, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		c.client = clientOf(addr.AddrPort().Addr())
	}
	if !t.pool.add(c, t.limits.Load()) {
		t.refused.Add(1)
		_ = conn.Close()
		return nil
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_, _ = tcp.SetReadBuffer(tcpBuffer), tcp.SetWriteBuffer(tcpBuffer)
	}
	t.accepted.Add(1)
	return c
}

// tcpListener serves one TCP socket by a dns.Server, which accepts, starts a goroutine for each connection, and ends them. Of the
// messages it sees none: ReadTCP answers a whole connection through Respond, malformed queries included.
type tcpListener struct {
	net.Listener
	shared   *tcpShared
	server   *dns.Server
	stopping chan struct{}
	gone     chan struct{} // closed when the socket is
	closed   func()        // closes gone

	failures failures // of accepting; belongs to Accept
}

func newTCPListener(socket net.Listener, shared *tcpShared) *tcpListener {
	l := &tcpListener{Listener: socket, shared: shared, stopping: make(chan struct{}), gone: make(chan struct{})}
	l.closed = sync.OnceFunc(func() { close(l.gone) })
	l.server = &dns.Server{Listener: l, DecorateReader: func(r dns.Reader) dns.Reader { return tcpReader{r, l} }}
	return l
}

// serve starts accepting and returns when stop may be called.
func (l *tcpListener) serve(running *sync.WaitGroup) {
	started := make(chan struct{})
	l.server.NotifyStartedFunc = func() { close(started) }
	running.Go(func() {
		if err := l.server.ActivateAndServe(); err != nil {
			l.shared.log.Error("tcp listener failed", zap.Stringer("address", l.Addr()), zap.Error(err))
		}
	})
	<-started
}

// stop closes the socket, lets each connection finish the messages it has read, and cuts off what is left when ctx ends.
func (l *tcpListener) stop(ctx context.Context) error {
	close(l.stopping)
	err := l.server.ShutdownContext(ctx)
	if ctx.Err() == nil {
		return nil // all ended; that the listener had failed before was logged then
	}
	n := l.shared.pool.closeOf(l)
	if n == 0 {
		return nil
	}
	return fmt.Errorf("stopping tcp %s: %d connections cut off: %w", l.Addr(), n, err)
}

// Close closes the socket; connections go on.
func (l *tcpListener) Close() error {
	defer l.closed()
	return l.Listener.Close()
}

// Accept waits for the next connection within the limits; others are closed at once. When the process runs out of file descriptors it
// waits for some to come back.
func (l *tcpListener) Accept() (net.Conn, error) {
	pause := 5 * time.Millisecond
	for {
		conn, err := l.Listener.Accept()
		switch {
		case err == nil:
			if c := l.shared.admit(conn, l); c != nil {
				return c, nil
			}
		case errors.Is(err, net.ErrClosed):
			return nil, err
		default:
			l.failures.add(l.shared.log, "tcp accept failed, trying again", zap.Stringer("address", l.Addr()), zap.Error(err))
			select {
			case <-l.stopping:
				return nil, err
			case <-time.After(pause):
			}
			pause = min(2*pause, time.Second)
		}
	}
}

// tcpReader is the hook into dns.Server: its ReadTCP returns when the connection is done.
type tcpReader struct {
	dns.Reader
	listener *tcpListener
}

// ReadTCP serves all queries of a connection. There is never a message left for the dns.Server.
func (r tcpReader) ReadTCP(conn net.Conn, _ time.Duration) ([]byte, error) {
	t := r.listener.shared
	session := t.sessions.Get().(*tcpSession)
	session.serve(conn, r.listener.stopping)
	t.sessions.Put(session)
	return nil, net.ErrClosed
}
