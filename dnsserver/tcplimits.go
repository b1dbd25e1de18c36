package dnsserver

import "time"

// TCPLimits bound what TCP clients may take of the server. A field that is not positive means its default.
type TCPLimits struct {
	// MaxConnections limits the connections of all addresses together. For one more, the one that has been idle for longest is closed.
	// Default: 1000.
	MaxConnections int
	// MaxConnectionsPerClient limits the connections of one IPv4 address, or of one IPv6 /64. One more is closed at once. Default: 100.
	MaxConnectionsPerClient int
	// MaxQueries closes a connection when so many queries were answered on it. Default: no limit.
	MaxQueries int
	// IdleTimeout closes a connection on which no query begins for so long (RFC 7766 section 6.2.3). Default: 10 s.
	IdleTimeout time.Duration
	// MessageTimeout bounds how long one message may take to arrive, and a batch of answers to be taken. Default: 5 s.
	MessageTimeout time.Duration
}

// withDefaults fills in what was left out.
func (l TCPLimits) withDefaults() TCPLimits {
	if l.MaxConnections <= 0 {
		l.MaxConnections = 1000
	}
	if l.MaxConnectionsPerClient <= 0 {
		l.MaxConnectionsPerClient = 100
	}
	if l.IdleTimeout <= 0 {
		l.IdleTimeout = 10 * time.Second
	}
	if l.MessageTimeout <= 0 {
		l.MessageTimeout = 5 * time.Second
	}
	return l
}

// SetTCPLimits replaces the limits, at any time. Connections that are open keep the idle timeout that runs; if there are more than are
// allowed now, the next to come closes the surplus.
func (s *Server) SetTCPLimits(l TCPLimits) {
	l = l.withDefaults()
	s.tcp.limits.Store(&l)
	s.shared.setIdle(l.IdleTimeout)
}
