package dnsserver

// Transport is the way by which a query came and its answer goes. It decides how long an answer may be: UDP ends at the size the client
// announced (RFC 6891 section 6.2.3), TCP at 65,535 octets (RFC 1035 section 4.2.2).
type Transport uint8

// The transports that a listener serves.
const (
	UDP Transport = iota
	TCP
)

// String gives the name used in messages and logs: "udp" or "tcp".
func (t Transport) String() string {
	if t == TCP {
		return "tcp"
	}
	return "udp"
}
