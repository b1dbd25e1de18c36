package health

import "gslbd/zone/steer"

// standing is how a group and its pools stood when events were last told.
type standing struct {
	group string // "" before the first time
	pools []poolStanding
}

type poolStanding struct{ name, state string }

// stand takes down how the group stands now.
func (g *group) stand() {
	pools := make([]poolStanding, 0, len(g.standing.pools))
	for _, name := range steer.Pools(g.zone, g.policy) {
		pools = append(pools, poolStanding{name, steer.PoolState(g.zone, g.policy, g.health, name)})
	}
	g.standing = standing{steer.GroupState(g.zone, g.policy, g.health, g.sel), pools}
}

// pool is the state of a pool, which is likely the i-th; "" for one that was not
// there.
func (s standing) pool(i int, name string) string {
	if i < len(s.pools) && s.pools[i].name == name {
		return s.pools[i].state
	}
	for _, p := range s.pools {
		if p.name == name {
			return p.state
		}
	}
	return ""
}
