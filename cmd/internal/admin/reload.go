package admin

import (
	"net/http"
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
	problems := b.Reload(r.Context(), accept)
	reply := ReloadReply{OK: !problems.Failed(false), Problems: problems}
	if reply.Problems == nil {
		reply.Problems = zone.Problems{}
	}
	status := http.StatusOK
	if !reply.OK {
		status = http.StatusUnprocessableEntity
	}
	writeJSON(w, status, reply)
}
