//go:build !linux

package dnsserver

import (
	"net"
	"net/netip"
	"syscall"
)

// batches says that this system serves UDP with one socket per address, a message at a time.
const batches = false

// udpWorker serves one UDP socket.
type udpWorker = plainUDP

func newUDPWorker(conn *net.UDPConn, addr netip.AddrPort, s *Server) (*udpWorker, error) {
	return newPlainUDP(conn, addr, s), nil
}

// close gives the socket back.
func (u *plainUDP) close() { _ = u.conn.Close() }

// sharePort does nothing here: the kernel refuses an address that overlaps with another one.
func sharePort(syscall.RawConn, bool) error { return nil }

// setOptions leaves the socket to dns.Server, which asks for the address of each query.
func setOptions(syscall.RawConn, netip.AddrPort) error { return nil }

// setBuffer asks for a buffer of size bytes; what was granted is not known here.
func setBuffer(conn *net.UDPConn, receive bool, size int) int {
	if receive {
		_ = conn.SetReadBuffer(size)
	} else {
		_ = conn.SetWriteBuffer(size)
	}
	return size
}

// haveThreads refuses nothing: sockets wait in the runtime's poller.
func haveThreads(addresses, workers, serving int) error { return nil }
