package wire

import "encoding/binary"

// Response codes (RFC 1035 §4.1.1, RFC 6672 §2.2, RFC 6891 §9).
const (
	NoError  = 0
	Formerr  = 1
	ServFail = 2
	NXDomain = 3
	Notimp   = 4
	Refused  = 5
	YXDomain = 6
	BadVers  = 16
)

// UDPSize is the largest UDP payload that is sent, and the size announced in
// replies, in bytes: it is not fragmented on any usual path.
const UDPSize = 1232

// MinUDPSize is what every client takes (RFC 1035 §2.3.4), in bytes.
const MinUDPSize = 512

// NotAuthoritative is the extended error "not authoritative" (RFC 8914 §4.21).
const NotAuthoritative = 20

// optSize and errorSize are the bytes of an OPT record and of one extended error in it.
const (
	optSize   = 11
	errorSize = 6
)

// Header is the variable part of a reply's header.
type Header struct {
	AA, TC                        bool
	RCode                         uint16 // the upper bits travel in OPT
	Answer, Authority, Additional uint16 // records; Additional without OPT
	ExtendedError                 uint16 // RFC 8914 info code; 0 for none
}

// Open appends the place of the header and the question of packet, which Parse
// has read into q, to an empty message.
func Open(msg, packet []byte, q *Query) []byte {
	return append(msg, packet[:q.End]...)
}

// OptSize is how many bytes Close will append.
func (q *Query) OptSize() int {
	if !q.EDNS.Present {
		return 0
	}
	return optSize
}

// Close completes a message that Open began: it appends the OPT record where
// the query had one (RFC 6891 §6.1.1) and writes the header.
func Close(msg []byte, q *Query, h Header) []byte {
	if q.EDNS.Present {
		msg = appendOpt(msg, q, h)
		h.Additional++
	}
	putHeader(msg, q, h, 1)
	return msg
}

// Bare appends a reply of a header alone, for packets whose question could not
// be read or means nothing to us.
func Bare(msg []byte, q *Query, rcode uint16) []byte {
	msg = append(msg, make([]byte, HeaderSize)...)
	putHeader(msg, q, Header{RCode: rcode}, 0)
	return msg
}

func putHeader(msg []byte, q *Query, h Header, questions uint16) {
	flags := 1<<15 | uint16(q.Opcode)<<11 | h.RCode&15
	if h.AA {
		flags |= 1 << 10
	}
	if h.TC {
		flags |= 1 << 9
	}
	if q.RD {
		flags |= 1 << 8
	}
	msg = msg[:HeaderSize]
	binary.BigEndian.PutUint16(msg, q.ID)
	binary.BigEndian.PutUint16(msg[2:], flags)
	binary.BigEndian.PutUint16(msg[4:], questions)
	binary.BigEndian.PutUint16(msg[6:], h.Answer)
	binary.BigEndian.PutUint16(msg[8:], h.Authority)
	binary.BigEndian.PutUint16(msg[10:], h.Additional)
}

// appendOpt writes version 0, our size, the client's DO bit (RFC 3225 §3) and,
// if there is one, the extended error.
func appendOpt(msg []byte, q *Query, h Header) []byte {
	do := byte(0)
	if q.EDNS.DO {
		do = 0x80
	}
	msg = append(msg, 0, 0, TypeOPT, UDPSize>>8, UDPSize&0xff, byte(h.RCode>>4), 0, do, 0)
	if h.ExtendedError == 0 {
		return append(msg, 0, 0)
	}
	return append(msg, 0, errorSize, 0, 15, 0, 2, byte(h.ExtendedError>>8), byte(h.ExtendedError))
}
