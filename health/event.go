package health

import "time"

// Kinds of events.
const (
	EventStart  = "start"  // of the server
	EventStop   = "stop"   // of the server
	EventReload = "reload" // of everything or of one zone, done or refused
	EventMember = "member" // a member's state changed
	EventPool   = "pool"   // a pool's state changed
	EventGroup  = "group"  // a group's answer or state changed
	EventFault  = "fault"  // our own side fails at something, or does so no longer
)

// Words for To, of faults and of reloads.
const (
	FaultBegun    = "begun" // or for another reason than before
	FaultOver     = "over"
	ReloadDone    = "done"
	ReloadRefused = "refused" // what was served before is served on
)

// Event is something that happened, as /api/v1/events, `gslbd events` and the
// file events.jsonl tell it. Which fields are filled in depends on Kind; names
// are written without the final dot.
type Event struct {
	ID   uint64    `json:"id"` // counts on from 1
	Time time.Time `json:"time"`
	Kind string    `json:"kind"`
	// From and To are the states: of a member up, down, unknown; of a pool or
	// group as in the status; of a fault begun, over; of a reload done, refused.
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Cause string `json:"cause,omitempty"`

	Zone   string `json:"zone,omitempty"`
	Name   string `json:"name,omitempty"` // of the group
	Type   string `json:"type,omitempty"`
	Pool   string `json:"pool,omitempty"`   // of a pool or member; of a group the one that answers
	Member string `json:"member,omitempty"` // its id
	Target string `json:"target,omitempty"` // of the check's probe
	Check  string `json:"check,omitempty"`
	// Members is how many members a probe with a fault is shared by.
	Members int `json:"members,omitempty"`

	// Of a group event: the policy and the rule by which it chose, and the data of
	// the records answered before and after; [] is an answer without records.
	Policy    string   `json:"policy,omitempty"`
	Rule      string   `json:"rule,omitempty"`
	OldPool   string   `json:"old_pool,omitempty"`
	OldAnswer []string `json:"old_answer,omitzero"`
	NewAnswer []string `json:"new_answer,omitzero"`

	stack string // of a panic, for the log
}
