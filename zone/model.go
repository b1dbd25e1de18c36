// Package zone reads RFC 1035 master files whose trailing comments may carry
// steering annotations, and turns them into a model that the rest of gslbd
// works from. Every problem it reports names a file and a line.
package zone

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// Key names one RRset: the zone that holds it, its owner and its type. Names
// are canonical (RFC 4034 §6.2): fully qualified, lower case.
type Key struct {
	Zone string
	Name string
	Type uint16
}

// String gives the form that operators type and read: "www.example.com/A",
// without the final dot.
func (k Key) String() string {
	return Display(k.Name) + "/" + k.TypeName()
}

// TypeName gives the mnemonic of the type: "AAAA", or "TYPE65280" (RFC 3597 §5)
// for one without.
func (k Key) TypeName() string { return dns.Type(k.Type).String() }

// Display gives a name as status, logs and commands show it: without the
// final dot, except for the root, which is ".".
func Display(name string) string {
	if name == "." {
		return name
	}
	return strings.TrimSuffix(name, ".")
}

// Zone is one loaded zone. It is not changed after Load returns it.
type Zone struct {
	Name    string   // canonical origin
	File    string   // as configured, for messages
	Files   []string // every file read: File first, then those of $INCLUDE
	Serial  uint32
	Records int // resource records kept
	RRsets  []RRset
	Groups  []*Group

	plain []plainSet // for Unsteered
}

// RRset is one RRset (RFC 2181 §5). Owner names keep the case of the file's
// first record; RRs share one TTL. RRsets of one owner stand next to each other.
type RRset struct {
	Name string // canonical owner
	Type uint16
	TTL  uint32 // seconds
	RRs  []dns.RR
	// Group is set where the RRset is steered; RRs then equal its members' RRs.
	Group *Group
}

// Group is an annotated RRset.
type Group struct {
	Key     Key
	Policy  string // policy name, lower case; "failover" by default
	TTL     uint32 // seconds
	Members []Member
	File    string
	Line    int // of the first record
}

// Member is one record of a group.
type Member struct {
	ID     string // unique within the group; the record's data by default
	Data   string // rdata in presentation form, e.g. "192.0.2.10"
	Pool   string
	Weight uint16 // 0 = drained
	// Checks lists the checks that must all pass, lower case; empty means
	// always up (check=none, or a member of the fallback pool without check=).
	Checks []string
	Target Target
	RR     dns.RR
	File   string
	Line   int
}

// Target is what the probes of a member aim at.
type Target struct {
	Addr netip.Addr // invalid only when the member has no checks
	Port uint16     // 0 = the check's own port
}

// Vocabulary is what annotations may refer to.
type Vocabulary struct {
	Checks   []string // names, lower case
	Policies map[string]PolicyNames
}

// PolicyNames is what a zone needs to know of a policy. It must include the
// built-in "failover" under its name.
type PolicyNames struct {
	Pools    []string // in order, best first, without the fallback
	Fallback string   // name of the fallback pool, "" for none
	Checks   []string // default checks of the members
}
