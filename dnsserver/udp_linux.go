package dnsserver

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// batches says that this system serves UDP with several sockets per address and many messages per call.
const batches = true

// drainBatches bounds what is still answered at a stop: the queries that wait in the socket's buffer.
const drainBatches = 64

// udpWorker serves one UDP socket: the goroutine in run owns all of it but the counters.
type udpWorker struct {
	*tally
	conn      *net.UDPConn
	addr      netip.AddrPort
	wildcard  bool // replies must name the address that was asked
	responder responder
	warm      func(n int, query func(int) []byte) // Responder.Warm; nil for other responders
	rest      func()                              // Responder.Rest; does nothing for others
	query     func(int) []byte                    // batch.query; one closure for the whole life
	guard     *guard
	log       *zap.Logger
	b         *batch
	failures  failures      // of receiving
	errno     syscall.Errno // why the last receive failed; 0 when it did not
	next      int           // index of the message being answered, plus one
}

func newUDPWorker(conn *net.UDPConn, addr netip.AddrPort, s *Server) *udpWorker {
	wildcard := addr.Addr().IsUnspecified()
	w := &udpWorker{tally: s.tally(), conn: conn, addr: addr, wildcard: wildcard, guard: &s.guard, log: s.opts.Log, b: newBatch(wildcard)}
	w.responder, w.query, w.rest = s.newResponder(&w.outcomes), w.b.query, func() {}
	if r, ok := w.responder.(*Responder); ok {
		w.warm, w.rest = r.Warm, r.Rest
	}
	return w
}

// stop makes run return soon.
func (w *udpWorker) stop() { _ = w.conn.SetReadDeadline(time.Unix(1, 0)) }

// run answers until stop, then what is still queued, and closes the socket. The runtime's poller parks it while nothing comes: measured,
// that costs no more per query than a thread of its own in a blocking call, and stops cleanly.
func (w *udpWorker) run() {
	defer w.conn.Close()
	raw, err := w.conn.SyscallConn()
	if err != nil {
		w.log.Error("udp listener failed", zap.Stringer("address", w.addr), zap.Error(err))
		return
	}
	turn := w.turn // one closure for the whole life
	for {
		err := raw.Read(turn)
		if err == nil && w.errno == 0 {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil { // the socket was closed under us
			w.log.Error("udp listener failed", zap.Stringer("address", w.addr), zap.Error(err))
			return
		}
		w.fault()
	}
	_ = raw.Control(func(fd uintptr) {
		deafen(int(fd))
		for i := 0; i < drainBatches && w.turn(fd) && w.errno == 0; i++ {
		}
	})
}

// deafen connects a socket to itself, so that the kernel gives it nothing more from others: what comes from now on goes to whoever has
// taken the address over.
func deafen(fd int) {
	if self, err := unix.Getsockname(fd); err == nil {
		_ = unix.Connect(fd, self) // fails when the address has left the machine: then nothing comes anyway
	}
}

// fault reports a receive that failed, and waits a little: such faults (no memory) last, and the loop must not spin.
func (w *udpWorker) fault() {
	w.failures.add(w.log, "udp receive failed", zap.Stringer("address", w.addr), zap.Error(w.errno))
	time.Sleep(100 * time.Millisecond)
}

// turn receives one batch, answers it and sends the answers. It reports false when nothing is there to receive.
func (w *udpWorker) turn(fd uintptr) bool {
	b := w.b
	n, errno := b.receive(fd)
	w.errno = 0
	switch errno {
	case 0:
	case unix.EAGAIN:
		w.rest()
		return false
	case unix.EINTR:
		return true
	default:
		w.errno = errno
		return true
	}
	if w.warm != nil {
		w.warm(n, w.query)
	}
	b.filled = 0
	for w.next = 0; w.next < n; {
		w.answer(n)
	}
	sent := b.send(fd)
	for i := range n {
		b.reset(i)
	}
	w.counters.received.Add(uint64(n))
	w.counters.answered.Add(uint64(sent))
	if n > b.filled {
		w.counters.dropped.Add(uint64(n - b.filled))
	}
	if b.filled > sent {
		w.counters.sendErrors.Add(uint64(b.filled - sent))
	}
	return true
}

// answer makes the answers to the messages from w.next up to n. It ends early when Respond panics; that message is dropped.
func (w *udpWorker) answer(n int) {
	defer func() {
		if v := recover(); v != nil {
			w.counters.panics.Add(1)
			i := w.next - 1
			w.guard.caught(v, w.b.query(i), w.b.client(i), UDP)
		}
	}()
	b := w.b
	for w.next < n {
		i := w.next
		w.next++
		packet := b.query(i)
		if packet == nil {
			continue
		}
		if answer := w.responder.Respond(b.space(), packet, b.client(i), UDP); len(answer) > 0 {
			b.add(i, answer, w.wildcard)
		}
	}
}
