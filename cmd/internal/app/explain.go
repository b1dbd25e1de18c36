package app

import (
	"context"

	"gslbd/cmd/internal/admin"
	"gslbd/cmd/internal/config"
	"gslbd/health"
	"gslbd/zone"
	"gslbd/zone/steer"
)

// decision is how one group was steered.
type decision struct {
	policy, pool, reason string
	answer               []string // data of the records chosen
	ttl                  uint32
}

// scene is a table and how its groups came to answer as they do.
type scene struct {
	state     *state
	zones     []string // canonical
	decisions map[zone.Key]decision
}

// history gives the health of a group's members and the data last answered.
type history func(*zone.Group, *steer.Policy) ([]steer.Health, []string)

// Explain answers a question from the files of cfg. All members are up, and so
// they were before, except those that q.Down names. The error is a
// zone.Problems for files that do not load, an *admin.Error for a bad question.
func Explain(cfg *config.Config, q admin.ExplainQuery) (admin.Explanation, error) {
	return explainFiles(cfg, q, allUp)
}

// Explain answers a question from what is served now. Without q.Live, or with
// members taken as up or down, it is asked of the zone files as they are on
// disk, so that nobody else sees the answer.
func (a *App) Explain(q admin.ExplainQuery) (admin.Explanation, error) {
	a.mu.RLock()
	cur := a.cur
	a.mu.RUnlock()
	switch {
	case !q.Live:
		return Explain(cur.cfg, q)
	case len(q.Down)+len(q.Up) > 0:
		return explainFiles(cur.cfg, q, a.present)
	}
	asked, err := parseQuestion(q)
	if err != nil {
		return admin.Explanation{}, err
	}
	return cur.scene(a.engine.Status()).explain(asked)
}

func explainFiles(cfg *config.Config, q admin.ExplainQuery, before history) (admin.Explanation, error) {
	asked, err := parseQuestion(q)
	if err != nil {
		return admin.Explanation{}, err
	}
	st, _, problems := loadState(context.Background(), cfg, nil, loadHere)
	if st == nil {
		return admin.Explanation{}, problems
	}
	assumed, err := assume(st.groups(), q)
	if err != nil {
		return admin.Explanation{}, err
	}
	return st.stage(before, assumed).explain(asked)
}

// allUp is the history of a group that never had a failure.
func allUp(g *zone.Group, p *steer.Policy) ([]steer.Health, []string) {
	states := make([]steer.Health, len(g.Members))
	for i := range states {
		states[i].State = steer.Up
	}
	return states, dataOf(g, steer.Choose(g, p, states, nil))
}

// present is the history of a group as it runs now; of one that does not run
// yet nothing is known.
func (a *App) present(g *zone.Group, _ *steer.Policy) ([]steer.Health, []string) {
	states, previous, _ := a.engine.Live(g.Key)
	if len(states) != len(g.Members) {
		states = make([]steer.Health, len(g.Members))
	}
	return states, previous
}

// assume reads the selectors of a question; a later one outranks an earlier
// one, and up outranks down.
func assume(groups []*zone.Group, q admin.ExplainQuery) (map[memberRef]steer.State, error) {
	assumed := map[memberRef]steer.State{}
	take := func(selectors []string, state steer.State) error {
		for _, s := range selectors {
			refs, err := selectMembers(groups, s)
			if err != nil {
				return err
			}
			for _, r := range refs {
				assumed[r] = state
			}
		}
		return nil
	}
	if err := take(q.Down, steer.Down); err != nil {
		return nil, err
	}
	return assumed, take(q.Up, steer.Up)
}

// stage steers every group by its history and what is assumed beside it.
func (s *state) stage(before history, assumed map[memberRef]steer.State) scene {
	sc := scene{state: s, decisions: map[zone.Key]decision{}}
	for _, z := range s.zones {
		sc.zones = append(sc.zones, z.name)
	}
	for _, g := range s.groups() {
		policy := s.cfg.Policies[g.Policy]
		states, previous := before(g, &policy)
		for i := range states {
			if state, ok := assumed[memberRef{g, i}]; ok {
				states[i] = steer.Health{State: state}
			}
		}
		sel := steer.Choose(g, &policy, states, previous)
		s.table.Publish(g.Key, sel)
		sc.decisions[g.Key] = decision{g.Policy, sel.Pool, sel.Reason, dataOf(g, sel), sel.TTL}
	}
	return sc
}

// scene takes the decisions from what the engine says of the same state.
func (s *state) scene(running health.Status) scene {
	sc := scene{state: s, decisions: map[zone.Key]decision{}}
	byName := map[string]decision{}
	for _, g := range running.Groups {
		byName[g.Name+"/"+g.Type] = decision{g.Policy, g.Pool, g.Reason, g.Answer, g.TTL}
	}
	for _, z := range s.zones {
		sc.zones = append(sc.zones, z.name)
		for _, g := range z.groups {
			if d, ok := byName[g.Key.String()]; ok {
				sc.decisions[g.Key] = d
			}
		}
	}
	return sc
}

func dataOf(g *zone.Group, sel steer.Selection) []string {
	data := make([]string, len(sel.Members))
	for i, m := range sel.Members {
		data[i] = g.Members[m].Data
	}
	return data
}
