// Package steer decides which members of a group are answered. It is pure: the
// same group, policy, states and history always give the same selection.
package steer

// State is what the checks say of a member.
type State uint8

// States of a member.
const (
	Unknown State = iota // no result yet
	Up
	Down
)

// Override is what the operator says of a member; it outranks its State.
type Override uint8

// Overrides of a member.
const (
	Auto Override = iota
	ForcedUp
	ForcedDown
	Drained
)

// Health is a member's real state and the operator's override beside it.
type Health struct {
	State    State
	Override Override
}

// AllDown says what a group answers when no pool is usable and no fallback
// pool exists.
type AllDown uint8

// Values of the policy option all_down.
const (
	Keep AllDown = iota
	AllMembers
	Primary
	NoData
	ServFail
)

// Quorum is how many usable members a pool needs: a count, or a percentage of
// its members rounded up. Drained members are out of the pool for both: they
// neither help to reach the quorum nor raise it. It is never less than one.
type Quorum struct {
	Count   int // 1 or more; used when Percent is 0
	Percent int // 1–100
}

// Policy is how a group chooses.
type Policy struct {
	Name       string
	Order      []string // pools, best first
	Fallback   string   // last-resort pool, "" for none
	MaxAnswers int      // 0 = all
	MinHealthy Quorum
	UnknownAs  State // how Unknown counts: Up or Down
	AllDown    AllDown
	Checks     []string // default checks of the members
}

// Failover is the built-in policy, and the defaults of every other one.
func Failover() Policy {
	return Policy{
		Name:       "failover",
		Order:      []string{"primary", "secondary", "tertiary"},
		Fallback:   "fallback",
		MinHealthy: Quorum{Count: 1},
		UnknownAs:  Up,
		AllDown:    Keep,
	}
}

// Rule names the step of the decision that chose.
type Rule string

// Rules, in the order in which Choose tries them.
const (
	RulePool     Rule = "pool"      // a usable pool
	RuleFallback Rule = "fallback"  // no usable pool, fallback pool present
	RuleKeep     Rule = "keep"      // all down: what was answered before
	RuleCold     Rule = "keep-cold" // all down, nothing answered before: first pool
	RuleAll      Rule = "all"
	RulePrimary  Rule = "primary"
	RuleNoData   Rule = "nodata"
	RuleServFail Rule = "servfail"
)

// Selection is what a group answers, and why.
type Selection struct {
	Rule Rule
	Pool string // the pool that answers; "" where members of several do or none does
	// Members are indexes into Group.Members, in zone order; empty exactly for
	// RuleNoData and RuleServFail.
	Members    []int
	MaxAnswers int // 0 = all
	TTL        uint32
	Reason     string // one sentence for people, e.g. `pool "primary" is down (0 of 2 up); pool "secondary" answers`
}
