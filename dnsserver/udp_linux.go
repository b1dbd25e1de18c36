package dnsserver

import (
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// batches says that this system serves UDP with several sockets per address and many messages per call.
const batches = true

// drainBatches bounds what drain answers: the queries that wait in the socket's buffer.
const drainBatches = 64

// udpWorker serves one UDP socket: the goroutine in run owns all of it but the counters and what stop needs.
type udpWorker struct {
	*tally
	fd        int         // of the socket, which run closes
	end       sync.Once   // of stop
	stopping  atomic.Bool // run shall return
	addr      netip.AddrPort
	wildcard  bool // replies must name the address that was asked
	responder responder
	batched   *Responder // responder, if it can answer in batches
	settle    func()     // settle; tests put their own here
	guard     *guard
	log       *zap.Logger
	b         *batch
	failures  failures // of receiving
	next      int      // index of the message being answered, plus one
	waits     waits
}

// newUDPWorker makes the worker of a socket and takes the socket out of conn, which is closed, whatever comes of it.
func newUDPWorker(conn *net.UDPConn, addr netip.AddrPort, s *Server) (*udpWorker, error) {
	fd, err := detach(conn)
	if err != nil {
		return nil, err
	}
	wildcard := addr.Addr().IsUnspecified()
	w := &udpWorker{tally: s.tally(), fd: fd, addr: addr, wildcard: wildcard, guard: &s.guard, log: s.opts.Log, b: newBatch(wildcard), settle: settle,
		waits: waits{clock: &s.shared.now}}
	w.responder = s.newResponder(&w.outcomes)
	if r, ok := w.responder.(*Responder); ok {
		w.batched = r.InBatches(batchSize)
	}
	return w, nil
}

// stop makes run return soon. A socket that is shut down wakes who waits in it, and still takes and sends messages. Once: afterwards
// run closes the socket, and its number may be another's.
func (w *udpWorker) stop() {
	w.end.Do(func() {
		w.stopping.Store(true)
		_ = unix.Shutdown(w.fd, unix.SHUT_RD) // ENOTCONN, and done nevertheless
	})
}

// close gives the socket back.
func (w *udpWorker) close() { _ = unix.Close(w.fd) }

// run answers until stop, then what is still queued, and closes the socket. While nothing comes, its thread waits in the kernel, so
// that nothing but the socket's own reader hears of a message; see detach.
func (w *udpWorker) run() {
	defer w.close()
	for !w.stopping.Load() {
		n, errno := w.b.receive(w.fd)
		if errno == unix.EAGAIN {
			if w.batched != nil {
				w.batched.Rest()
			}
			if w.waits.yield() {
				runtime.Gosched()
			}
			n, errno = w.b.await(w.fd)
		}
		switch {
		case n > 0:
			w.turn(n)
		case errno == unix.EINTR, w.stopping.Load():
		case errno == 0:
			w.fault(unix.ESHUTDOWN) // by somebody else
		default:
			w.fault(errno)
		}
	}
	w.stop() // which may not be over yet
	w.drain()
	deafen(w.fd)
	w.settle()
	w.drain()
}

// drain answers what is queued.
func (w *udpWorker) drain() {
	for range drainBatches {
		n, errno := w.b.receive(w.fd)
		if errno == unix.EAGAIN {
			return
		}
		if n > 0 {
			w.turn(n)
		}
	}
}

// deafen connects a socket to itself, so that the kernel gives it nothing more from others: what comes from now on goes to whoever has
// taken the address over.
func deafen(fd int) {
	if self, err := unix.Getsockname(fd); err == nil {
		_ = unix.Connect(fd, self) // fails when the address has left the machine: then nothing comes anyway
	}
}

// settle returns when messages for which the kernel had chosen a socket before the call are in that socket's queue: some 10 ms. The
// kernel looks a socket up and queues the message in one RCU read-side section; membarrier(2) waits until all that have begun are over.
// Where the kernel does not do that (nohz_full, a filter of system calls), the time it usually takes must do.
func settle() {
	const global = 1 // MEMBARRIER_CMD_GLOBAL
	if _, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, global, 0, 0); errno != 0 {
		time.Sleep(30 * time.Millisecond)
	}
}

// fault reports a receive that failed, and waits a little: such faults (no memory) last, and the loop must not spin.
func (w *udpWorker) fault(errno syscall.Errno) {
	w.failures.add(w.log, "udp receive failed", zap.Stringer("address", w.addr), zap.Error(errno))
	time.Sleep(100 * time.Millisecond)
}

// turn answers the n messages that were received and sends the answers.
func (w *udpWorker) turn(n int) {
	b := w.b
	read := w.batched != nil && w.read(n)
	b.filled = 0
	for w.next = 0; w.next < n; {
		w.answer(n, read)
	}
	if read {
		w.batched.Count()
	}
	sent := b.send(w.fd)
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
}

// read reads n messages at once. It gives false when that panics: the one that makes it will do so again, on its own.
func (w *udpWorker) read(n int) (ok bool) {
	defer func() { _ = recover() }()
	for i := range n {
		w.batched.Read(i, w.b.query(i))
	}
	w.batched.Find(n)
	return true
}

// answer makes the answers to the messages from w.next up to n, which were read or not. It ends early when that panics; the message is
// dropped.
func (w *udpWorker) answer(n int, read bool) {
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
		var answer []byte
		if read {
			answer = w.batched.Answer(i, b.space(), b.client(i), UDP)
		} else {
			answer = w.responder.Respond(b.space(), b.query(i), b.client(i), UDP)
		}
		if len(answer) > 0 {
			b.add(i, answer, w.wildcard)
		}
	}
}
