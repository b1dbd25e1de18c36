package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"gslbd/cmd/internal/admin"
	"gslbd/health"
	"gslbd/zone"
)

// maxAwaited is how many names readiness lists before it only counts.
const maxAwaited = 20

// Status tells how everything stands, or the groups that name selects: NAME or
// NAME/TYPE, with `*`. A name that matches nothing is an *admin.Error.
func (a *App) Status(name string) (health.Status, error) {
	s := a.engine.Status()
	a.mu.RLock()
	defer a.mu.RUnlock()
	s.Version, s.Node, s.Started = a.opts.Version, a.cur.cfg.Node, a.started
	if s.Groups == nil {
		s.Groups = []health.GroupStatus{}
	}
	s.Zones = make([]health.ZoneStatus, len(a.cur.zones))
	for i, z := range a.cur.zones {
		s.Zones[i] = health.ZoneStatus{Name: zone.Display(z.name), Serial: z.serial, Loaded: z.loaded, Problem: a.problems[z.name]}
	}
	if name == "" {
		return s, nil
	}
	return narrow(s, name)
}

// Serials gives the serial of every zone served, by displayed name.
func (a *App) Serials() map[string]uint32 {
	a.mu.RLock()
	defer a.mu.RUnlock()
	serials := make(map[string]uint32, len(a.cur.zones))
	for _, z := range a.cur.zones {
		serials[zone.Display(z.name)] = z.serial
	}
	return serials
}

// narrow keeps the groups that name selects, and the zones they may be in.
func narrow(s health.Status, name string) (health.Status, error) {
	var known []string
	kept := []health.GroupStatus{}
	for _, g := range s.Groups {
		known = append(known, g.Name)
		if matchesGroup(name, g.Name, g.Type) {
			kept = append(kept, g)
		}
	}
	if len(kept) == 0 {
		return s, &admin.Error{
			Status:  http.StatusNotFound,
			Message: fmt.Sprintf("no group is named %q", name),
			Hint:    nearestHint(name, known),
		}
	}
	s.Groups = kept
	s.Zones = slices.DeleteFunc(s.Zones, func(z health.ZoneStatus) bool {
		return !slices.ContainsFunc(kept, func(g health.GroupStatus) bool { return below(g.Name, z.Name) })
	})
	return s, nil
}

// below reports whether a displayed name is a zone's or lies in it.
func below(name, zone string) bool {
	name, zone = strings.ToLower(name), strings.ToLower(zone)
	return name == zone || zone == "." || strings.HasSuffix(name, "."+zone)
}

// Awaited names the probes whose first round readiness still waits for.
func (a *App) Awaited() []string {
	s := a.engine.Status()
	if s.Ready {
		return nil
	}
	var awaited []string
	for _, g := range s.Groups {
		for _, p := range g.Pools {
			for _, m := range p.Members {
				for _, c := range m.Checks {
					if c.LastProbe.IsZero() && len(c.Of) == 0 {
						awaited = append(awaited, fmt.Sprintf("%s/%s %s: first %s probe", g.Name, g.Type, m.ID, c.Name))
					}
				}
			}
		}
	}
	if len(awaited) == 0 {
		return []string{"the first probes"}
	}
	if more := len(awaited) - maxAwaited; more > 0 {
		awaited = append(awaited[:maxAwaited], fmt.Sprintf("and %d more", more))
	}
	return awaited
}
