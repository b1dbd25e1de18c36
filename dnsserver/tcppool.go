package dnsserver

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// tcpBuffer is asked of the kernel for each direction of a connection, in octets. Left to itself the kernel gives megabytes to a client
// that asks much and reads nothing.
const tcpBuffer = 1 << 16

// tcpPool holds the open connections of all listeners. Its lock is taken for a few instructions, never while anything waits for a client.
type tcpPool struct {
	evicted atomic.Uint64

	mu      sync.Mutex           // guards what follows
	order   list.List            // of *tcpConn; first the one that has waited for longest since it was accepted or answered
	clients map[netip.Prefix]int // how many each client has
}

// tcpConn is a connection that leaves its pool when it is closed.
type tcpConn struct {
	net.Conn
	owner  *tcpListener
	client netip.Prefix
	place  *list.Element // nil when it is not in the pool; guarded by the pool's lock
}

// clientOf gives whom a connection is counted for: an IPv4 address, or the /64 that an IPv6 host may choose its addresses from.
func clientOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	client, _ := addr.Prefix(bits) // the zero prefix for the zero address
	return client
}

// add takes a connection in, unless its client has as many as it may. When all are too many, those that were idle for longest give way.
func (p *tcpPool) add(c *tcpConn, limits *TCPLimits) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clients[c.client] >= limits.MaxConnectionsPerClient {
		return false
	}
	for p.order.Len() >= limits.MaxConnections {
		victim := p.order.Front().Value.(*tcpConn)
		p.forget(victim)
		abort(victim.Conn)
		p.evicted.Add(1)
	}
	c.place = p.order.PushBack(c)
	p.clients[c.client]++
	return true
}

// touch notes that a client is being answered.
func (p *tcpPool) touch(c *tcpConn) {
	p.mu.Lock()
	if c.place != nil {
		p.order.MoveToBack(c.place)
	}
	p.mu.Unlock()
}

// forget takes a connection out; the caller holds the lock.
func (p *tcpPool) forget(c *tcpConn) {
	if c.place == nil {
		return
	}
	p.order.Remove(c.place)
	c.place = nil
	if p.clients[c.client]--; p.clients[c.client] == 0 {
		delete(p.clients, c.client)
	}
}

// size is how many connections are open.
func (p *tcpPool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.order.Len()
}

// closeOf closes the connections of one listener and tells how many those were.
func (p *tcpPool) closeOf(l *tcpListener) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.order.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*tcpConn); c.owner == l {
			_ = c.Conn.Close()
			n++
		}
	}
	return n
}

// Close closes the connection and takes it out of the pool, at the first call.
func (c *tcpConn) Close() error {
	p := &c.owner.shared.pool
	p.mu.Lock()
	p.forget(c)
	p.mu.Unlock()
	return c.Conn.Close()
}

// abort resets a connection, so that the kernel does not keep what the client never takes.
func abort(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
