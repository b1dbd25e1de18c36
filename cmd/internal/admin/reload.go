package admin

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"gslbd/zone"
)

// serveReload answers 200 when the new state is served, and 422 with every
// problem when the old one was kept.
func serveReload(w http.ResponseWriter, r *http.Request, b Backend) {
	accept := false
	if v := r.URL.Query().Get("accept_unsteered"); v != "" {
		var err error
		if accept, err = strconv.ParseBool(v); err != nil {
			writeError(w, &Error{Message: "accept_unsteered=" + v + " is neither true nor false", Hint: "write accept_unsteered=true or leave it out"})
			return
		}
	}
	before := b.Serials()
	problems := b.Reload(r.Context(), accept)
	reply := ReloadReply{OK: !problems.Failed(false), Problems: problems, Zones: []ZoneReloaded{}}
	if reply.OK {
		reply.Zones = compared(before, b.Serials())
	}
	if reply.Problems == nil {
		reply.Problems = zone.Problems{}
	}
	status := http.StatusOK
	if !reply.OK {
		status = http.StatusUnprocessableEntity
	}
	writeJSON(w, status, reply)
}

// compared lists the zones of both times.
func compared(before, after map[string]uint32) []ZoneReloaded {
	all := maps.Clone(before)
	maps.Copy(all, after)
	zones := make([]ZoneReloaded, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		z := ZoneReloaded{Name: name}
		if serial, ok := before[name]; ok {
			z.Before = &serial
		}
		if serial, ok := after[name]; ok {
			z.Serial = &serial
		}
		zones = append(zones, z)
	}
	return zones
}
