package probe

import (
	"regexp"
	"time"
)

// ICMP are the options of type icmp.
type ICMP struct {
	Count int // echo requests in one try, 1–10; one reply passes
	Size  int // payload bytes, 24–1400: a time stamp and a UUID are in it
}

// TCP are the options of type tcp.
type TCP struct {
	Port   uint16
	Send   []byte
	Expect []byte // the banner must contain it
}

// TLS are the options of type tls.
type TLS struct {
	Port    uint16
	SNI     string // name sent and looked for in the certificate; "" = the owner name of the RRset
	Verify  bool   // authority, name and time of the certificate
	CAFile  string // PEM of the authorities trusted; "" = the system's
	MinDays int    // 0–3650: days of 24 hours that the server's own certificate is still valid; asked even without Verify
}

// UDP are the options of type udp.
type UDP struct {
	Port   uint16
	Send   []byte // at most 500 characters; nothing sends an empty datagram
	Expect []byte // at most 500 characters; the first reply must equal it, any passes if it is empty
}

// DNS are the options of type dns.
type DNS struct {
	Port   uint16
	QName  string   // without the final dot; "" = the owner name of the RRset
	QType  uint16   // RFC 1035 section 3.2.2; a type of data, no meta type
	RCode  int      // 0–15, RFC 1035 section 4.1.1
	Expect []string // data that the answer section must hold in records of QType, in presentation form
	TCP    bool     // asks over TCP alone
}

// StatusRange is an inclusive range of HTTP status codes.
type StatusRange struct{ Low, High int }

// RedirectTo says which server a followed redirect goes to.
type RedirectTo uint8

// Values of the http option redirect_to.
const (
	SameHost RedirectTo = iota // the member's own address; another host fails
	AnyHost                    // the server that the redirect names
)

// HTTP are the options of type http.
type HTTP struct {
	Scheme          string // "http" or "https"
	Port            uint16
	Method          string // HEAD, GET, POST
	Path            string
	Host            string // Host header and SNI; "" = the owner name of the RRset
	Headers         [][2]string
	Body            string
	Status          []StatusRange
	ExpectBody      string
	ExpectBodyRegex *regexp.Regexp
	Redirects       int
	RedirectTo      RedirectTo
	Version         string // "1.0", "1.1", "2"
	Verify          bool
	SNI             string // "" = Host
	CAFile          string
	CertFile        string
	KeyFile         string
	UserAgent       string
	OwnAgent        bool // UserAgent is the default, which names the version: another one makes no other probe
	Username        string
	PasswordFile    string
}

// GRPC are the options of type grpc.
type GRPC struct {
	Port    uint16
	Service string // asked for; "" = the server as a whole
	TLS     bool
	Verify  bool   // authority, name and time of the certificate
	SNI     string // :authority, and with TLS the name sent and looked for; "" = the owner name of the RRset
	CAFile  string // PEM of the authorities trusted; "" = the system's
}

// Exec are the options of type exec.
type Exec struct {
	Command    []string    // program and arguments; {address}, {port} and {name} in arguments are replaced
	Env        [][2]string // the environment beside PATH
	Dir        string      // working directory; "" = that of this process
	MaxRunning int         // rounds of this check that run at the same time, 1–1000
}

// File are the options of type file. Probes of one check share it; do not copy
// it once one was made.
type File struct {
	Path   string
	MaxAge time.Duration // since the file was written; 0 = any

	turns turns // to read the file
	cache stateCache
}
