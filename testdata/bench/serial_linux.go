package main

import (
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// serialProbe asks for the serial of the large zone, without waiting for the answer.
type serialProbe struct {
	fd    int
	query []byte
	next  time.Time
	last  uint32
}

func newSerialProbe(port int) (*serialProbe, error) {
	query, err := new(dns.Msg).SetQuestion("big.test.", dns.TypeSOA).Pack()
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &serialProbe{fd: fd, query: query}, unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

func (p *serialProbe) close() { _ = unix.Close(p.fd) }

// serial asks every 10 ms, and gives the newest serial that came.
func (p *serialProbe) serial(now time.Time) uint32 {
	if now.Before(p.next) {
		return p.last
	}
	p.next = now.Add(10 * time.Millisecond)
	var buffer [512]byte
	for {
		n, err := unix.Read(p.fd, buffer[:])
		if err != nil {
			break // nothing more is there
		}
		var reply dns.Msg
		if reply.Unpack(buffer[:n]) == nil && len(reply.Answer) == 1 {
			if soa, ok := reply.Answer[0].(*dns.SOA); ok {
				p.last = soa.Serial
			}
		}
	}
	_, _ = unix.Write(p.fd, p.query) // the next one will do
	return p.last
}
