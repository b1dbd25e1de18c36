package probe

import "regexp"

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
	Username        string
	PasswordFile    string
}
