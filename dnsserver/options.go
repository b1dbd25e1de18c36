package dnsserver

import (
	"runtime"

	"go.uber.org/zap"
)

// Options says where a Server listens and within which limits. The zero value of every field but Listen means its default.
type Options struct {
	// Listen holds the addresses to serve, UDP and TCP each: "192.0.2.1:53", "[2001:db8::1]:53", ":53" (every address, IPv4 and IPv6).
	// Port 0 takes any port that is free for both transports.
	Listen []string
	// Workers is the number of UDP sockets for one address, each with a thread; 4096 at most for all addresses. Default: GOMAXPROCS.
	// Systems other than Linux use 1.
	Workers int
	// ReceiveBuffer is the kernel's buffer for each UDP socket, in bytes; the kernel may grant less, which is logged
	// unless it is the default, 4 MiB.
	ReceiveBuffer int
	// SendBuffer is likewise what answers wait in; one that finds it full is lost. Default: 1 MiB.
	SendBuffer int
	// TCP holds the limits of TCP connections; see SetTCPLimits.
	TCP TCPLimits
	// Log gets one line for each fault of a socket. Default: none.
	Log *zap.Logger
}

// withDefaults fills in what was left zero.
func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.Workers, runtime.GOMAXPROCS(0))
	def(&o.ReceiveBuffer, 4<<20)
	def(&o.SendBuffer, 1<<20)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return o
}
