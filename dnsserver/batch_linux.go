package dnsserver

import (
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	batchSize = 64 // messages per call: more gains nothing measurable, and each one waits for the whole batch
	spread    = 64 // octets between buffers, so that their first lines do not fall on the same cache set
)

// message is struct mmsghdr of recvmmsg(2).
type message struct {
	header unix.Msghdr
	length uint32
}

// control holds one control message: the address that was asked, IP_PKTINFO or IPV6_PKTINFO.
type control struct {
	header unix.Cmsghdr
	info   [24]byte
}

// batch is the memory of one worker's calls: allocated once, used for every batch. What holds pointers comes first, so that the garbage
// collector looks no further.
type batch struct {
	in, out       [batchSize]message
	inVec, outVec [batchSize]unix.Iovec
	filled        int // answers in out
	names         [batchSize]unix.RawSockaddrInet6
	controls      [batchSize]control
	queries       [batchSize][querySize + spread]byte
	answers       [batchSize][answerSize + spread]byte
}

// newBatch wires the headers to their buffers. Control messages are asked for on wildcard sockets only.
func newBatch(wildcard bool) *batch {
	b := new(batch)
	for i := range batchSize {
		b.inVec[i].Base = &b.queries[i][0]
		b.inVec[i].SetLen(querySize)
		in, out := &b.in[i].header, &b.out[i].header
		in.Name = (*byte)(unsafe.Pointer(&b.names[i]))
		in.Iov = &b.inVec[i]
		in.SetIovlen(1)
		out.Iov = &b.outVec[i]
		out.SetIovlen(1)
		if wildcard {
			in.Control = (*byte)(unsafe.Pointer(&b.controls[i]))
		}
		b.reset(i)
	}
	return b
}

// reset gives the kernel room again for the name and control message of message i.
func (b *batch) reset(i int) {
	in := &b.in[i].header
	in.Namelen = unix.SizeofSockaddrInet6
	if in.Control != nil {
		in.SetControllen(int(unsafe.Sizeof(control{})))
	}
}

// receive takes what waits in the socket, without waiting; n is -1 where errno is set. A raw call: it never blocks, so the scheduler
// need not know of it.
func (b *batch) receive(fd int) (n int, errno syscall.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&b.in)), batchSize, unix.MSG_DONTWAIT, 0, 0)
	return int(r), errno
}

// await waits for a message and takes it and what has come with it. It takes none when the socket was shut down.
func (b *batch) await(fd int) (n int, errno syscall.Errno) {
	r, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&b.in)), batchSize, unix.MSG_WAITFORONE, 0, 0)
	if r == 1 && b.in[0].header.Namelen == 0 { // nobody has sent it
		b.reset(0)
		return 0, 0
	}
	return int(r), errno
}

// query is the content of message i; nil when it was longer than its buffer.
func (b *batch) query(i int) []byte {
	in := &b.in[i]
	if in.header.Flags&unix.MSG_TRUNC != 0 || in.length > querySize {
		return nil
	}
	return b.queries[i][:in.length:querySize]
}

// client is where message i came from.
func (b *batch) client(i int) netip.AddrPort {
	name := &b.names[i]
	port := (*[2]byte)(unsafe.Pointer(&name.Port))
	p := uint16(port[0])<<8 | uint16(port[1])
	if name.Family == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(name)).Addr), p)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(name.Addr).Unmap(), p)
}

// space is the empty buffer for the next answer.
func (b *batch) space() []byte { return b.answers[b.filled][:0:answerSize] }

// add queues the answer to message i, back to the very socket address it came from (with the scope of a link-local one).
func (b *batch) add(i int, answer []byte, wildcard bool) {
	b.outVec[b.filled].Base = unsafe.SliceData(answer)
	b.outVec[b.filled].SetLen(len(answer))
	in, out := &b.in[i].header, &b.out[b.filled].header
	out.Name, out.Namelen = in.Name, in.Namelen
	if wildcard {
		out.Control, out.Controllen = in.Control, in.Controllen
		b.controls[i].forgetInterface(b.names[i].Family)
	}
	b.filled++
}

// forgetInterface leaves the way back to the routing table: the query may have come in by another interface than the answer must leave
// by. Link-local addresses mean nothing without theirs.
func (c *control) forgetInterface(family uint16) {
	switch {
	case family == unix.AF_INET:
		(*unix.Inet4Pktinfo)(unsafe.Pointer(&c.info)).Ifindex = 0
	case c.info[0] != 0xfe || c.info[1]&0xc0 != 0x80:
		(*unix.Inet6Pktinfo)(unsafe.Pointer(&c.info)).Ifindex = 0
	}
}

// send hands the queued answers to the kernel. An answer that the kernel refuses (no
// route, filtered, buffer full) is given up; the others go out. The result is the number sent.
func (b *batch) send(fd int) (sent int) {
	for at := 0; at < b.filled; {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&b.out[at])), uintptr(b.filled-at), unix.MSG_DONTWAIT, 0, 0)
		switch {
		case errno == unix.EINTR:
		case errno != 0 || n == 0:
			at++
		default:
			at, sent = at+int(n), sent+int(n)
		}
	}
	return sent
}
