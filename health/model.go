// Package health probes the members of all groups and decides what each group
// answers. Monitor schedules probes; Decider, one goroutine, owns every state
// and is the only writer of answers.
package health

import (
	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// Model is everything that is steered: what Apply replaces as a whole.
type Model struct {
	Groups   []*zone.Group
	Checks   map[string]probe.Check  // by name, lower case
	Policies map[string]steer.Policy // by name, lower case
}

// Publisher takes the answer of a group. It is called from the Decider's
// goroutine only.
type Publisher interface {
	Publish(key zone.Key, sel steer.Selection)
}
