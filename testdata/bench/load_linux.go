package main

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	block       = 64                     // queries of one call, and unanswered at most on one socket
	flows       = 3                      // so that queries always wait at the server while it works on others, but no buffer overflows
	replySize   = 2048                   // of the buffer for one answer
	lostAfter   = 200 * time.Millisecond // without any answer
	heldUp      = 5 * time.Millisecond   // between two looks: the generator did not run
	standstill  = 100 * time.Microsecond // the same, of an open loop
	idleBetween = 3 * time.Microsecond   // looks at the sockets, when nothing was there
)

// message is struct mmsghdr of recvmmsg(2).
type message struct {
	header unix.Msghdr
	length uint32
}

// generator asks one server over UDP: a closed loop of blocks of 64 queries. Each block is one call with UDP_SEGMENT: the kernel cuts it
// into ordinary datagrams, which is cheaper than any server's sending, so that it is the server that limits.
type generator struct {
	flows   []flow
	in      [block]message
	vectors [block]unix.Iovec
	replies [block][replySize]byte
}

// flow is one socket.
type flow struct {
	fd      int
	first   uint16 // id of the block's first query
	set     int    // its index in the set
	waiting int
	seen    [block]bool
	last    time.Time // when something came, or the block was sent
}

// outcome is what a load brought.
type outcome struct {
	answers, lost, wrong int
	took                 time.Duration
}

func newGenerator(port, flows int) (*generator, error) {
	g := &generator{flows: make([]flow, flows)}
	for i := range g.flows {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		g.flows[i].fd = fd
		if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return nil, err
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20); err != nil {
			return nil, err
		}
	}
	for i := range g.in {
		g.vectors[i] = unix.Iovec{Base: &g.replies[i][0], Len: replySize}
		g.in[i].header.Iov, g.in[i].header.Iovlen = &g.vectors[i], 1
	}
	return g, nil
}

func (g *generator) close() {
	for i := range g.flows {
		_ = unix.Close(g.flows[i].fd)
	}
}

// ask sends n queries of the set in turn, and takes the answers. The caller's thread should be kept to a core.
func (g *generator) ask(s *querySet, n int, check func(query int, reply []byte) bool) (outcome, error) {
	var o outcome
	for i := range g.flows {
		if err := unix.SetsockoptInt(g.flows[i].fd, unix.SOL_UDP, unix.UDP_SEGMENT, s.size); err != nil {
			return o, fmt.Errorf("UDP_SEGMENT (Linux 4.18 or later): %w", err)
		}
	}
	start := time.Now()
	now := start
	for sent := 0; ; {
		idle, waiting := true, 0
		for i := range g.flows {
			f := &g.flows[i]
			if f.waiting > 0 && g.take(f, s, &o, now, check) {
				idle = false
			}
			if f.waiting == 0 && sent < n {
				if err := f.send(s, sent, now); err != nil {
					return o, err
				}
				sent, idle = sent+block, false
			}
			waiting += f.waiting
		}
		if waiting == 0 && sent >= n {
			o.took = time.Since(start)
			return o, nil
		}
		last := now
		for now = time.Now(); idle && now.Sub(last) < idleBetween; now = time.Now() {
			giveWay()
		}
		if held := now.Sub(last); held > heldUp {
			g.wait(held)
		}
	}
}

// wait gives the answers that are open so much more time: when the machine stands still, nobody answers.
func (g *generator) wait(held time.Duration) {
	for i := range g.flows {
		g.flows[i].last = g.flows[i].last.Add(held)
	}
}

// giveWay lets others have the core, when it is not the generator's alone.
func giveWay() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// send gives the next block to the kernel.
func (f *flow) send(s *querySet, at int, now time.Time) error {
	f.first += block
	f.set, f.waiting, f.seen, f.last = at%setSize, block, [block]bool{}, now
	for i := range block {
		binary.BigEndian.PutUint16(s.query(f.set+i), f.first+uint16(i))
	}
	_, err := unix.Write(f.fd, s.wire[f.set*s.size:(f.set+block)*s.size])
	return err
}

// take receives what is there. It reports whether something was.
func (g *generator) take(f *flow, s *querySet, o *outcome, now time.Time, check func(int, []byte) bool) bool {
	r, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(f.fd), uintptr(unsafe.Pointer(&g.in)), block, unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		if errno != syscall.EAGAIN || now.Sub(f.last) > lostAfter {
			o.lost += f.waiting
			f.waiting = 0
		}
		return false
	}
	f.last = now
	for i := range int(r) {
		reply := g.replies[i][:min(g.in[i].length, replySize)]
		if len(reply) < 12 {
			o.wrong++
			continue
		}
		at := binary.BigEndian.Uint16(reply) - f.first
		if at >= block || f.seen[at] { // of a block that was given up, or twice
			o.wrong++
			continue
		}
		f.seen[at] = true
		f.waiting--
		o.answers++
		if reply[2]&0x80 == 0 || !check(f.set+int(at), reply) {
			o.wrong++
		}
	}
	return true
}
