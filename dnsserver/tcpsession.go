package dnsserver

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"time"
)

const (
	tcpLength = 2       // octets of the length before each message (RFC 1035 section 4.2.2)
	tcpHeader = 12      // octets of the shortest message, a bare header
	tcpLarge  = 1 << 14 // buffers larger than this are not kept between uses
	tcpFlush  = 1 << 16 // answers to pipelined queries are written when they reach so many octets
	tcpStart  = 1 << 11 // octets a connection begins with

	tcpParting = time.Second           // for the client to take its last answers
	tcpQuiet   = 50 * time.Millisecond // after which nothing more of a client is on its way, when its listener stops
)

// errParted ends a connection that is not to be read any more.
var errParted = errors.New("nothing more is answered")

// tcpSession answers the queries of one connection, in their order (RFC 7766 section 6.2.1: pipelining allowed). It is used for one
// connection after another.
type tcpSession struct {
	shared    *tcpShared
	responder responder
	conn      net.Conn
	client    netip.AddrPort
	queries   int    // answered on this connection
	in        []byte // what came and is not answered yet
	reply     []byte // one answer
	out       []byte // answers with their lengths, not written yet
}

// serve reads and answers until the client is done, too slow, or breaks the framing, or the server stops. Closing is left to the caller.
func (s *tcpSession) serve(conn net.Conn, stopping <-chan struct{}) {
	s.begin(conn)
	defer s.end()
	wait := s.shared.limits.Load().IdleTimeout
	for {
		if wait > 0 && conn.SetReadDeadline(time.Now().Add(wait)) != nil {
			return
		}
		if ended(stopping) { // after the deadline was set, or it would undo the one that dns.Server sets to stop us
			s.finish()
			return
		}
		partial := len(s.in) > 0
		used, err := s.turn()
		switch late := errors.Is(err, os.ErrDeadlineExceeded); {
		case err == nil:
		case late && ended(stopping): // dns.Server ends reading by a deadline too
			s.finish()
			return
		case late:
			s.shared.timedOut.Add(1)
			return
		default:
			return
		}
		switch {
		case len(s.in) == 0:
			wait = s.shared.limits.Load().IdleTimeout
			s.shrink()
			s.rest()
		case partial && used == 0:
			wait = 0 // the same message goes on, and so does its deadline
		default:
			wait = s.shared.limits.Load().MessageTimeout
		}
	}
}

// begin takes over a connection.
func (s *tcpSession) begin(conn net.Conn) {
	s.conn, s.client, s.queries = conn, netip.AddrPort{}, 0
	if addr, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		a := addr.AddrPort()
		s.client = netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
	}
	if s.in == nil {
		s.in, s.reply, s.out = make([]byte, 0, tcpStart), make([]byte, 0, tcpStart), make([]byte, 0, tcpStart)
	}
}

// end lets go of the connection.
func (s *tcpSession) end() {
	s.conn, s.in = nil, s.in[:0]
	s.shrink()
	s.rest()
}

// rest keeps a client that says nothing from holding on to zones that were replaced.
func (s *tcpSession) rest() {
	if r, ok := s.responder.(*Responder); ok {
		r.Rest()
	}
}

// shrink drops the memory of an unusually long message or answer.
func (s *tcpSession) shrink() {
	for _, buffer := range []*[]byte{&s.in, &s.reply, &s.out} {
		if cap(*buffer) > tcpLarge {
			*buffer = make([]byte, 0, tcpStart)
		}
	}
}

// ended tells whether a channel is closed.
func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// turn reads once, answers the messages that are complete, and tells how many octets those had. An error of reading is returned as it is;
// errParted means that nothing more is to be answered.
func (s *tcpSession) turn() (used int, err error) {
	if len(s.in) == cap(s.in) {
		s.in = append(s.in, 0)[:len(s.in)] // only a long message that really arrives gets a long buffer
	}
	n, err := s.conn.Read(s.in[len(s.in):cap(s.in)])
	if n == 0 && err != nil {
		return 0, err
	}
	if len(s.in)+n == cap(s.in) {
		runtime.Gosched() // more is waiting for sure: others first
	}
	s.in = s.in[:len(s.in)+n]
	used, ok := s.answerAll()
	if !s.flush() {
		return used, errParted
	}
	if !ok {
		s.part()
		return used, errParted
	}
	s.in = s.in[:copy(s.in, s.in[used:])]
	return used, nil
}

// finish answers what a connection still holds when its listener stops: until nothing comes for a moment, or for as long as a client that
// goes on asking may take for its last answers.
func (s *tcpSession) finish() {
	for end := time.Now().Add(tcpParting); time.Now().Before(end); {
		quiet := time.Now().Add(tcpQuiet)
		if s.conn.SetReadDeadline(quiet) != nil {
			return
		}
		_, err := s.turn()
		if early := errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(quiet); err != nil && !early { // early: that of dns.Server came in between
			return
		}
	}
	s.part()
}

// part says that no more answers come, and takes for a moment what is still coming: closed with unread queries, the connection would be
// reset, and answers on their way would be lost.
func (s *tcpSession) part() {
	c, ok := s.conn.(*tcpConn)
	if !ok {
		return
	}
	tcp, ok := c.Conn.(*net.TCPConn)
	if !ok || tcp.CloseWrite() != nil || tcp.SetReadDeadline(time.Now().Add(tcpParting)) != nil {
		return
	}
	for taken := 0; taken < tcpFlush; {
		n, err := tcp.Read(s.in[:cap(s.in)])
		if err != nil {
			return
		}
		taken += n
	}
}

// answerAll answers every complete message in s.in and tells how much of it they took. It reports false when what follows cannot be a
// DNS message, the client does not take its answers, or it has asked as often as it may: the connection is to be closed.
func (s *tcpSession) answerAll() (used int, ok bool) {
	most := s.shared.limits.Load().MaxQueries
	for {
		rest := s.in[used:]
		if len(rest) < tcpLength {
			return used, true
		}
		length := int(binary.BigEndian.Uint16(rest))
		if length < tcpHeader {
			return used, false
		}
		if len(rest) < tcpLength+length {
			return used, true
		}
		s.answer(rest[tcpLength : tcpLength+length : tcpLength+length])
		used += tcpLength + length
		if len(s.out) >= tcpFlush && !s.flush() {
			return used, false
		}
		if s.queries++; most > 0 && s.queries >= most {
			s.shared.exhausted.Add(1)
			return used, false
		}
	}
}

// answer appends the answer to one message to s.out. A panic in Respond drops the message.
func (s *tcpSession) answer(packet []byte) {
	n := &s.shared.counters
	n.received.Add(1)
	defer func() {
		if v := recover(); v != nil {
			n.panics.Add(1)
			n.dropped.Add(1)
			s.shared.guard.caught(v, packet, s.client, TCP)
		}
	}()
	reply := s.responder.Respond(s.reply[:0], packet, s.client, TCP)
	if len(reply) == 0 || len(reply) > 1<<16-1 {
		n.dropped.Add(1)
		return
	}
	s.reply = reply[:0]
	s.out = append(binary.BigEndian.AppendUint16(s.out, uint16(len(reply))), reply...)
	n.answered.Add(1)
}

// flush writes the answers; false means that the client is gone or does not take them in time.
func (s *tcpSession) flush() bool {
	if len(s.out) == 0 {
		return true
	}
	c, pooled := s.conn.(*tcpConn)
	if pooled {
		s.shared.pool.touch(c) // before the client can know of its answer and act on it
	}
	err := s.conn.SetWriteDeadline(time.Now().Add(s.shared.limits.Load().MessageTimeout))
	if err == nil {
		_, err = s.conn.Write(s.out)
	}
	s.out = s.out[:0]
	if err != nil {
		s.shared.counters.sendErrors.Add(1)
		if pooled {
			abort(c.Conn) // closing it is still left to the caller
		}
	}
	return err == nil
}
