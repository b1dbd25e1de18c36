package admin

import "net/http"

func serveStatus(w http.ResponseWriter, r *http.Request, b Backend) {
	status, err := b.Status(r.URL.Query().Get("name"))
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, status)
}
