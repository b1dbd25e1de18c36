package dnsserver

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"

	"go.uber.org/zap"
)

// portTries bounds the search for a port that is free for UDP and TCP when port 0 was asked.
const portTries = 20

// listener is one bound address: its UDP sockets and its TCP socket. Listeners do not know of each other.
type listener struct {
	endpoint                // what it was bound for
	bound    netip.AddrPort // the same with the real port
	tookOver bool           // it was bound beside another one that has the address too
	workers  []*udpWorker
	tcp      *tcpListener
	udp      sync.WaitGroup // the workers
	running  sync.WaitGroup // the rest
}

// serve starts the goroutines.
func (l *listener) serve() {
	for _, w := range l.workers {
		l.udp.Go(w.run)
	}
	l.tcp.serve(&l.running)
}

// stopUDP answers what the UDP sockets hold and closes them.
func (l *listener) stopUDP() {
	for _, w := range l.workers {
		w.stop()
	}
	l.udp.Wait()
}

// stop ends all goroutines and closes the sockets; see Server.Stop.
func (l *listener) stop(ctx context.Context) error {
	for _, w := range l.workers {
		w.stop()
	}
	err := l.tcp.stop(ctx)
	l.udp.Wait()
	l.running.Wait()
	return err
}

// close gives the sockets of a listener back that never served.
func (l *listener) close() {
	for _, w := range l.workers {
		w.close()
	}
	_ = l.tcp.Close()
}

// bindGroup binds endpoints of one listen string to port; 0 takes one that is free for all. over are the listeners that are to go.
func (s *Server) bindGroup(group []endpoint, port uint16, over []*listener) (bound []*listener, err error) {
	for range portTries {
		bound, err = s.tryGroup(group, port, over)
		if port != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return bound, err
}

// tryGroup binds all endpoints of a group or none; with port 0, the first socket's port is asked for the others.
func (s *Server) tryGroup(group []endpoint, port uint16, over []*listener) (bound []*listener, err error) {
	var missing error
	for _, e := range group {
		l, err := s.bind(e, port, over)
		switch {
		case err == nil:
			bound, port = append(bound, l), l.bound.Port()
		case e.optional && familyMissing(err):
			missing = err
			s.opts.Log.Warn("address family missing, not served", zap.Stringer("address", e.addr), zap.String("listen", e.text), zap.Error(errors.Unwrap(err)))
		default:
			s.discard(bound)
			return nil, err
		}
	}
	if len(bound) == 0 {
		return nil, missing
	}
	return bound, nil
}

// bind opens the sockets of one address. TCP goes first: its port cannot be shared, so a second server is found out even where both
// would share the UDP port. Only listeners in over that have the address too, and are to go, let it in beside them.
func (s *Server) bind(e endpoint, port uint16, over []*listener) (*listener, error) {
	addr := netip.AddrPortFrom(e.addr.Addr(), port)
	family := "6"
	if addr.Addr().Is4() {
		family = "4"
	}
	rivals := slices.DeleteFunc(slices.Clone(over), func(l *listener) bool { return !overlap(l.bound, addr) })
	tcp, err := s.bindTCP("tcp"+family, addr, rivals)
	if err != nil {
		return nil, bindError(TCP, e.text, addr, err, rivals)
	}
	l := &listener{endpoint: e, bound: tcp.Addr().(*net.TCPAddr).AddrPort(), tookOver: len(rivals) > 0, tcp: newTCPListener(tcp, s.tcp)}
	for i := range s.opts.Workers {
		w, err := s.bindWorker("udp"+family, l.bound, i > 0 || len(rivals) > 0)
		if err != nil {
			s.discard([]*listener{l})
			return nil, bindError(UDP, e.text, l.bound, err, rivals)
		}
		l.workers = append(l.workers, w)
		if !batches {
			break
		}
	}
	return l, nil
}

// bindTCP opens a TCP socket, beside those of rivals if need be. None of them shares its port any longer than that takes.
func (s *Server) bindTCP(network string, addr netip.AddrPort, rivals []*listener) (net.Listener, error) {
	config := net.ListenConfig{Control: s.control, KeepAlive: -1} // the idle timeout does what keep-alive would
	config.SetMultipathTCP(false)                                 // nothing a DNS client asks for, and one protocol less to attack
	if len(rivals) == 0 {
		return config.Listen(context.Background(), network, addr.String())
	}
	share := func(socket any, on bool) {
		if raw, err := socket.(syscall.Conn).SyscallConn(); err == nil {
			_ = sharePort(raw, on)
		}
	}
	for _, r := range rivals {
		share(r.tcp.Listener, true)
		defer share(r.tcp.Listener, false)
	}
	config.Control = func(network, address string, raw syscall.RawConn) error {
		if s.control != nil {
			if err := s.control(network, address, raw); err != nil {
				return err
			}
		}
		return sharePort(raw, true)
	}
	tcp, err := config.Listen(context.Background(), network, addr.String())
	if err == nil {
		share(tcp, false)
	}
	return tcp, err
}

// bindWorker opens one UDP socket and makes its worker; see bindUDP.
func (s *Server) bindWorker(network string, addr netip.AddrPort, join bool) (*udpWorker, error) {
	conn, err := s.bindUDP(network, addr, join)
	if err != nil {
		return nil, err
	}
	return newUDPWorker(conn, addr, s)
}

// bindUDP opens one UDP socket. The first of an address binds alone, so that a port in use is an error, and lets others join afterwards;
// join is for those.
func (s *Server) bindUDP(network string, addr netip.AddrPort, join bool) (*net.UDPConn, error) {
	config := net.ListenConfig{Control: func(network, address string, raw syscall.RawConn) error {
		if s.control != nil {
			if err := s.control(network, address, raw); err != nil {
				return err
			}
		}
		if err := setOptions(raw, addr); err != nil || !join {
			return err
		}
		return sharePort(raw, true)
	}}
	packets, err := config.ListenPacket(context.Background(), network, addr.String())
	if err != nil {
		return nil, err
	}
	conn := packets.(*net.UDPConn)
	if !join && batches {
		raw, err := conn.SyscallConn()
		if err == nil {
			err = sharePort(raw, true)
		}
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	s.setBuffers(conn)
	return conn, nil
}
