package admin

import (
	"context"

	"gslbd/health"
	"gslbd/zone"
)

// The documents of /api/v1/status, for those who import this package alone.
type (
	Status         = health.Status
	GroupStatus    = health.GroupStatus
	PoolStatus     = health.PoolStatus
	MemberStatus   = health.MemberStatus
	OverrideStatus = health.OverrideStatus
	CheckStatus    = health.CheckStatus
	ZoneStatus     = health.ZoneStatus
)

// Event is one of the list of /api/v1/events.
type Event = health.Event

// Kinds of events.
const (
	EventStart  = health.EventStart
	EventStop   = health.EventStop
	EventReload = health.EventReload
	EventMember = health.EventMember
	EventPool   = health.EventPool
	EventGroup  = health.EventGroup
	EventFault  = health.EventFault
)

// Backend is the running server that the interface shows and changes. Its
// methods are called from many goroutines at once.
type Backend interface {
	// Status gives the groups that name selects (NAME, NAME/TYPE, with `*`);
	// "" selects all. A name that matches nothing is an *Error.
	Status(name string) (Status, error)
	// Explain answers one question and says why; *Error for a bad question.
	Explain(q ExplainQuery) (Explanation, error)
	// Reload reads configuration and zones again, all or nothing. The problems
	// hold an error exactly when the running state was kept.
	Reload(ctx context.Context, acceptUnsteered bool) zone.Problems
	// Serials gives the serial of every zone served, by name without the final dot.
	Serials() map[string]uint32
	// Awaited names what readiness still waits for; empty when ready.
	Awaited() []string
	// Events gives the events after an ID, oldest first, of those that are still
	// remembered (at most 10,000), and a channel that is closed once there are
	// newer ones than these. 0 gives all, and so does an ID beyond the newest: one
	// from before a restart that kept nothing. Neither side changes the events.
	Events(after uint64) (events []Event, more <-chan struct{})
}

// ExplainQuery is the question of `gslbd explain` and /api/v1/explain.
type ExplainQuery struct {
	Name   string   // with or without the final dot
	Type   string   // "" = A
	Client string   // address of the asking client; "" = 127.0.0.1
	Down   []string // selectors of members to take as down
	Up     []string // selectors of members to take as up
	Live   bool     // start from the running states; else all members are up
}

// Explanation is the document of `gslbd explain --json` and /api/v1/explain.
type Explanation struct {
	Name   string   `json:"name"` // without the final dot
	Type   string   `json:"type"`
	RCode  string   `json:"rcode"`
	Answer []string `json:"answer"` // data of the records answered
	Pool   string   `json:"pool"`   // "" where no pool answered
	Policy string   `json:"policy"` // "" for a name that is not steered
	Reason string   `json:"reason"`
	TTL    uint32   `json:"ttl"` // seconds that a resolver may keep the reply
	Client string   `json:"client"`
	Scope  int      `json:"scope"` // prefix length that the decision depended on; 0 = none
}

// ReloadReply is the document of POST /api/v1/reload.
type ReloadReply struct {
	OK       bool           `json:"ok"`
	Problems zone.Problems  `json:"problems"`
	Zones    []ZoneReloaded `json:"zones"` // by name; none when the reload was refused
}

// ZoneReloaded is what a reload made of one zone.
type ZoneReloaded struct {
	Name   string  `json:"name"`   // without the final dot
	Before *uint32 `json:"before"` // serial; null for a zone that is new
	Serial *uint32 `json:"serial"` // null for a zone that is served no more
}

// EventList is the document of `gslbd events --json` and /api/v1/events.
type EventList struct {
	Events []Event `json:"events"` // oldest first
}

// Readiness is the document of /healthz and /readyz.
type Readiness struct {
	OK      bool     `json:"ok"`
	Awaited []string `json:"awaited"`
}

// Error is a refusal that people read: what is wrong and how to mend it.
type Error struct {
	Status  int    `json:"-"` // HTTP status; 0 = 400 for a question refused
	Message string `json:"error"`
	Hint    string `json:"hint"`
}

// Error gives the message, and the hint on a line of its own.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "\n  hint: " + e.Hint
}
