package health

import "time"

// Status is the document of `gslbd status --json` and /api/v1/status.
type Status struct {
	Version string        `json:"version"`
	Node    string        `json:"node"`
	Started time.Time     `json:"started"`
	Ready   bool          `json:"ready"`
	Groups  []GroupStatus `json:"groups"`
	Zones   []ZoneStatus  `json:"zones"`
}

// GroupStatus is one steered RRset.
type GroupStatus struct {
	Name   string       `json:"name"` // without the final dot
	Type   string       `json:"type"`
	Policy string       `json:"policy"`
	State  string       `json:"state"` // healthy, degraded, critical
	Pool   string       `json:"pool"`  // the pool that answers; "" for none
	Since  time.Time    `json:"since"` // of the present answer
	Reason string       `json:"reason"`
	Answer []string     `json:"answer"`
	TTL    uint32       `json:"ttl"`
	Pools  []PoolStatus `json:"pools"`
}

// PoolStatus is one pool of a group.
type PoolStatus struct {
	Name    string         `json:"name"`
	State   string         `json:"state"` // healthy, degraded, critical, unknown, no-health
	Members []MemberStatus `json:"members"`
}

// MemberStatus is one record of a group.
type MemberStatus struct {
	ID        string          `json:"id"`
	Data      string          `json:"data"`
	Target    string          `json:"target"`
	Weight    uint16          `json:"weight"`
	State     string          `json:"state"` // unknown, up, down
	Override  *OverrideStatus `json:"override"`
	Usable    bool            `json:"usable"`
	Since     time.Time       `json:"since"`
	LatencyMS float64         `json:"latency_ms"` // last passed probe, the slowest of its checks; 0 before
	Checks    []CheckStatus   `json:"checks"`
}

// OverrideStatus is an operator's word on a member.
type OverrideStatus struct {
	Value  string    `json:"value"` // forced-up, forced-down, drained
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
}

// CheckStatus is one check of one member.
type CheckStatus struct {
	Name        string    `json:"name"`
	Target      string    `json:"target,omitempty"` // what it probes; "" of a combination
	State       string    `json:"state"`            // unknown, up, down
	Consecutive int       `json:"consecutive"`      // like results in a row, the last one included
	LastProbe   time.Time `json:"last_probe"`
	NextProbe   time.Time `json:"next_probe"`
	Error       string    `json:"error"` // cause of the last failure or fault; "" after a pass
	// Of names the parts of a combination, whose rows are in the list too. Its
	// Consecutive is 0, its times are the latest and the earliest of its parts.
	Of []string `json:"of,omitempty"`
}

// ZoneStatus is one zone as it is served.
type ZoneStatus struct {
	Name    string    `json:"name"`
	Serial  uint32    `json:"serial"`
	Loaded  time.Time `json:"loaded"`
	Problem string    `json:"problem"` // why the file on disk is not what is served; "" when it is
}
