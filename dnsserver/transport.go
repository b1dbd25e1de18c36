package dnsserver

// Transport is the way by which a query came and its answer goes. It decides how long an answer may be: UDP ends at the size the client
// announced (RFC 6891 section 6.2.3), TCP at 65,535 octets (RFC 1035 section 4.2.2).
type Transport uint8

// The transports. No listener serves TLS yet.
const (
	UDP Transport = iota
	TCP
	TLS // as TCP, but nobody on the way can read it (RFC 7858)
)

// String gives the name used in messages and logs: "udp", "tcp" or "tls".
func (t Transport) String() string {
	switch t {
	case TCP:
		return "tcp"
	case TLS:
		return "tls"
	}
	return "udp"
}
