package dnsserver

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/zap"
)

const (
	querySize  = 4096   // octets of the longest query taken over UDP
	answerSize = maxUDP // octets an answer has room for, so that Respond never allocates
)

// plainUDP serves one UDP socket a message at a time, on systems without batches. A dns.Server owns the socket, so that replies leave
// from the address that was asked; as with TCP, it sees no message: ReadUDP answers them all through Respond.
type plainUDP struct {
	*tally
	conn      *net.UDPConn
	addr      netip.AddrPort
	responder responder
	rest      func() // Responder.Rest; does nothing for others
	guard     *guard
	log       *zap.Logger
	server    *dns.Server
	started   <-chan struct{} // closed by up
	up        func()
	query     []byte
	reply     []byte
}

func newPlainUDP(conn *net.UDPConn, addr netip.AddrPort, s *Server) *plainUDP {
	started := make(chan struct{})
	u := &plainUDP{tally: s.tally(), conn: conn, addr: addr, guard: &s.guard, log: s.opts.Log, started: started, up: sync.OnceFunc(func() { close(started) }),
		query: make([]byte, querySize+1), reply: make([]byte, 0, answerSize)}
	u.responder, u.rest = s.newResponder(&u.outcomes), func() {}
	if r, ok := u.responder.(*Responder); ok {
		u.rest = r.Rest
	}
	u.server = &dns.Server{PacketConn: conn, DecorateReader: func(r dns.Reader) dns.Reader { return plainReader{r, u} },
		NotifyStartedFunc: u.up}
	return u
}

// run answers until stop, and closes the socket.
func (u *plainUDP) run() {
	defer u.up()
	if err := u.server.ActivateAndServe(); err != nil {
		u.log.Error("udp listener failed", zap.Stringer("address", u.addr), zap.Error(err))
	}
}

// stop makes run return.
func (u *plainUDP) stop() {
	<-u.started
	_ = u.server.Shutdown()
}

// plainReader is the hook into dns.Server.
type plainReader struct {
	dns.Reader
	u *plainUDP
}

// ReadUDP answers messages until the socket fails or is to stop.
func (r plainReader) ReadUDP(conn *net.UDPConn, _ time.Duration) ([]byte, *dns.SessionUDP, error) {
	for {
		n, session, err := dns.ReadFromSessionUDP(conn, r.u.query)
		if err != nil {
			return nil, nil, err
		}
		r.u.answer(conn, n, session)
		r.u.rest()
	}
}

// answer answers one message of n octets. A panic in Respond drops it.
func (u *plainUDP) answer(conn *net.UDPConn, n int, session *dns.SessionUDP) {
	u.counters.received.Add(1)
	client := session.RemoteAddr().(*net.UDPAddr).AddrPort()
	client = netip.AddrPortFrom(client.Addr().Unmap().WithZone(""), client.Port())
	defer func() {
		if v := recover(); v != nil {
			u.counters.panics.Add(1)
			u.counters.dropped.Add(1)
			u.guard.caught(v, u.query[:n], client, UDP)
		}
	}()
	var reply []byte
	if n <= querySize {
		reply = u.responder.Respond(u.reply[:0], u.query[:n:n], client, UDP)
	}
	if len(reply) == 0 {
		u.counters.dropped.Add(1)
		return
	}
	if _, err := dns.WriteToSessionUDP(conn, reply, session); err != nil {
		u.counters.sendErrors.Add(1)
		return
	}
	u.counters.answered.Add(1)
}
