// Package probe holds one file per check type. A Prober runs one try against
// one target and says why it passed or failed, not only whether.
package probe

import (
	"context"
	"net/netip"
	"time"
)

// Check is a probe definition as configured. Exactly one of the type
// structs is set; all fields hold their effective values (defaults filled in).
type Check struct {
	Name     string
	Type     string        // "icmp", "tcp", "tls", "udp", "dns", "http", "grpc", "exec", "file"
	Interval time.Duration // pause between the end of a round and the start of the next
	Timeout  time.Duration // for one try
	Retries  int           // further tries within a round
	Fall     int
	Rise     int
	Window   *Window      // instead of Fall and Rise
	Source   []netip.Addr // at most one IPv4 and one IPv6

	Combination *Combination // of other checks; then nothing above but Name and Type is set

	ICMP *ICMP
	TCP  *TCP
	TLS  *TLS
	UDP  *UDP
	DNS  *DNS
	HTTP *HTTP
	GRPC *GRPC
	Exec *Exec
	File *File
}

// Window makes a member up while at least Required of its last Size rounds passed.
type Window struct {
	Size     int // 1–100
	Required int // 1–Size
}

// Target is where one probe aims.
type Target struct {
	Addr netip.Addr
	Port uint16 // 0 = the check's port
	Name string // owner of the RRset, without the final dot: default Host and SNI
}

// Outcome of one try or one round.
type Outcome uint8

// Outcomes. A Fault is our own: it is neither pass nor fail. Unknown says that
// whoever vouches for the target is silent: a Fault after which up does not
// stand any longer.
const (
	Pass Outcome = iota + 1
	Fail
	Fault
	Unknown
)

// Result is what one try found.
type Result struct {
	Outcome Outcome
	Reason  string        // short cause in the field's words; empty on Pass
	Latency time.Duration // request to last byte; 0 unless Pass
	Steps   []Step        // filled only for a Prober made with trace
}

// Step is one line of `gslbd probe`: what happened, and when since the start.
type Step struct {
	At   time.Duration `json:"at"`
	What string        `json:"what"` // "connect", "tls", "first byte", "redirect", …
	Info string        `json:"info"`
}

// Prober runs single tries against one target; the caller owns timeout (as ctx
// deadline), retries and thresholds. Probe is never called concurrently on one
// Prober.
type Prober interface {
	Probe(ctx context.Context) Result
}
