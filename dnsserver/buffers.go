package dnsserver

import (
	"fmt"
	"net"

	"go.uber.org/zap"
)

// buffer is one of the two kernel buffers that each UDP socket has.
type buffer struct {
	name     string // what it does
	sysctl   string // what limits it
	asked    int    // bytes
	explicit bool   // the operator asked
	granted  int    // bytes of the smallest one since the last report; 0 = none was made
}

// newBuffers says what is asked of the kernel.
func newBuffers(given, filled Options) (receive, send buffer) {
	return buffer{name: "receive", sysctl: "net.core.rmem_max", asked: filled.ReceiveBuffer, explicit: given.ReceiveBuffer > 0},
		buffer{name: "send", sysctl: "net.core.wmem_max", asked: filled.SendBuffer, explicit: given.SendBuffer > 0}
}

// setBuffers gives a UDP socket its buffers, as much as the kernel grants.
func (s *Server) setBuffers(conn *net.UDPConn) {
	for _, b := range []*buffer{&s.receive, &s.send} {
		granted := setBuffer(conn, b == &s.receive, b.asked)
		if b.granted == 0 || granted < b.granted {
			b.granted = granted
		}
	}
}

// reportBuffers warns, in one line each, of buffers that are smaller than the operator asked for.
func (s *Server) reportBuffers() {
	for _, b := range []*buffer{&s.receive, &s.send} {
		if b.explicit && b.granted > 0 && b.granted < b.asked {
			s.opts.Log.Warn("udp "+b.name+" buffer is smaller than configured", zap.Int("asked", b.asked), zap.Int("granted", b.granted),
				zap.String("hint", fmt.Sprintf("`sysctl -w %s=%d` lets the kernel grant it, and so does CAP_NET_ADMIN", b.sysctl, b.asked)))
		}
		b.granted = 0
	}
}
