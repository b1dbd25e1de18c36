package dnsserver

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"go.uber.org/zap"
)

// portTries bounds the search for a port that is free for UDP and TCP when port 0 was asked.
const portTries = 20

// sendBuffer is asked of the kernel for each UDP socket: an answer that finds it full is lost.
const sendBuffer = 1 << 20

// listener is one bound address: its UDP sockets and its TCP socket. Listeners do not know of each other.
type listener struct {
	addr    netip.AddrPort
	workers []*udpWorker
	tcp     *tcpListener
	running sync.WaitGroup
}

// serve starts the goroutines.
func (l *listener) serve() {
	for _, w := range l.workers {
		l.running.Go(w.run)
	}
	l.tcp.serve(&l.running)
}

// stop ends all goroutines and closes the sockets; see Server.Stop.
func (l *listener) stop(ctx context.Context) error {
	for _, w := range l.workers {
		w.stop()
	}
	err := l.tcp.stop(ctx)
	l.running.Wait()
	return err
}

// close gives the sockets of a listener back that never served.
func (l *listener) close() {
	for _, w := range l.workers {
		_ = w.conn.Close()
	}
	_ = l.tcp.Close()
}

// bindGroup binds the endpoints of one listen string to one port.
func (s *Server) bindGroup(group []endpoint) (bound []*listener, err error) {
	for range portTries {
		bound, err = s.tryGroup(group)
		if group[0].addr.Port() != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return bound, err
}

// tryGroup binds all endpoints of a group or none; with port 0, the first socket's port is asked for the others.
func (s *Server) tryGroup(group []endpoint) (bound []*listener, err error) {
	port := group[0].addr.Port()
	var missing error
	for _, e := range group {
		l, err := s.bind(e.text, netip.AddrPortFrom(e.addr.Addr(), port))
		switch {
		case err == nil:
			bound, port = append(bound, l), l.addr.Port()
		case e.optional && familyMissing(err):
			missing = err
			s.opts.Log.Warn("address family missing, not served", zap.Stringer("address", e.addr), zap.String("listen", e.text), zap.Error(errors.Unwrap(err)))
		default:
			for _, l := range bound {
				l.close()
			}
			return nil, err
		}
	}
	if len(bound) == 0 {
		return nil, missing
	}
	return bound, nil
}

// bind opens the sockets of one address. TCP goes first: its port cannot be shared, so a second server is found out even where both
// would share the UDP port.
func (s *Server) bind(text string, addr netip.AddrPort) (*listener, error) {
	family := "6"
	if addr.Addr().Is4() {
		family = "4"
	}
	config := net.ListenConfig{Control: s.control, KeepAlive: -1} // the idle timeout does what keep-alive would
	config.SetMultipathTCP(false)                                 // nothing a DNS client asks for, and one protocol less to attack
	tcp, err := config.Listen(context.Background(), "tcp"+family, addr.String())
	if err != nil {
		return nil, bindError(TCP, text, addr, err)
	}
	l := &listener{addr: tcp.Addr().(*net.TCPAddr).AddrPort(), tcp: newTCPListener(tcp, s.tcp)}
	for i := range s.opts.Workers {
		conn, err := s.bindUDP("udp"+family, l.addr, i > 0)
		if err != nil {
			l.close()
			return nil, bindError(UDP, text, l.addr, err)
		}
		l.workers = append(l.workers, newUDPWorker(conn, l.addr, s))
		if !batches {
			break
		}
	}
	return l, nil
}

// bindUDP opens one UDP socket. The first of an address binds alone, so that a port in use is an error, and lets others join afterwards.
func (s *Server) bindUDP(network string, addr netip.AddrPort, join bool) (*net.UDPConn, error) {
	config := net.ListenConfig{Control: func(network, address string, raw syscall.RawConn) error {
		if s.control != nil {
			if err := s.control(network, address, raw); err != nil {
				return err
			}
		}
		if join {
			return sharePort(raw)
		}
		return nil
	}}
	packets, err := config.ListenPacket(context.Background(), network, addr.String())
	if err != nil {
		return nil, err
	}
	conn := packets.(*net.UDPConn)
	raw, err := conn.SyscallConn()
	if err == nil {
		err = setOptions(raw, addr)
	}
	if err == nil && !join && batches {
		err = sharePort(raw)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.SetReadBuffer(s.opts.ReceiveBuffer) // as much as the kernel grants
	_ = conn.SetWriteBuffer(sendBuffer)
	return conn, nil
}
