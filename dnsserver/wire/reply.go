package wire

import "encoding/binary"

// Response codes (RFC 1035 §4.1.1, RFC 6672 §2.2, RFC 6891 §9).
const (
	NoError     = 0
	Formerr     = 1
	ServFail    = 2
	NXDomain    = 3
	Notimp      = 4
	Refused     = 5
	YXDomain    = 6
	BadVers     = 16
	WrongCookie = 23 // BADCOOKIE, RFC 7873 §8
)

// MinUDPSize is what every client takes (RFC 1035 §2.3.4), in bytes.
const MinUDPSize = 512

// Extended errors (RFC 8914 §4).
const (
	Prohibited       = 18
	NotAuthoritative = 20
	NotSupported     = 21
)

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

// OptSize is how many bytes Close will append beside options and extended error.
func (q *Query) OptSize() int {
	if !q.EDNS.Present {
		return 0
	}
	return optSize
}

// ErrorSize is how many bytes the extended error takes in OPT.
func (h *Header) ErrorSize() int {
	if h.ExtendedError == 0 {
		return 0
	}
	return errorSize
}

// Close completes a message that Open began: it appends the OPT record where
// the query had one (RFC 6891 §6.1.1), and writes the header. OPT has version 0,
// the UDP size that we take, the client's DO bit (RFC 3225 §3), options and, if
// there is one, the extended error.
func Close(msg []byte, q *Query, h *Header, size uint16, options []byte) []byte {
	additional, questions := h.Additional, uint16(1)
	if q.EDNS.Present {
		additional++
		opt := TypeOPT<<optShift | uint64(size)<<sizeShift | uint64(h.RCode>>4)<<rcodeShift
		if q.EDNS.DO {
			opt |= flagDO
		}
		n := len(options) + h.ErrorSize()
		msg = binary.BigEndian.AppendUint64(msg, opt)
		msg = append(msg, 0, byte(n>>8), byte(n))
		if n > 0 {
			msg = append(h.appendError(msg), options...)
		}
	}
	if q.End == HeaderSize {
		questions = 0
	}
	putHeader(msg, q, h, questions, additional)
	return msg
}

// appendError appends the option for the extended error, if there is one.
func (h *Header) appendError(msg []byte) []byte {
	if h.ExtendedError == 0 {
		return msg
	}
	return append(msg, 0, OptionError, 0, errorSize-OptionHead, byte(h.ExtendedError>>8), byte(h.ExtendedError))
}

// Bare appends a reply of a header alone, for packets whose question could not
// be read or means nothing to us.
func Bare(msg []byte, q *Query, rcode uint16) []byte {
	msg = append(msg, make([]byte, HeaderSize)...)
	putHeader(msg, q, &Header{RCode: rcode}, 0, 0)
	return msg
}

func putHeader(msg []byte, q *Query, h *Header, questions, additional uint16) {
	first := q.Echo | flagQR | uint32(h.RCode&15)
	if h.AA {
		first |= flagAA
	}
	if h.TC {
		first |= flagTC
	}
	head := (*[HeaderSize]byte)(msg)
	binary.BigEndian.PutUint32(head[:], first)
	binary.BigEndian.PutUint64(head[4:], uint64(questions)<<48|uint64(h.Answer)<<32|uint64(h.Authority)<<16|uint64(additional))
}
