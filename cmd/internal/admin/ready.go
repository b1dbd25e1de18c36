package admin

import "net/http"

// serveAlive says that the process runs; it asks for nothing else, so that a
// supervisor never restarts a server that is merely waiting.
func serveAlive(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, Readiness{OK: true, Awaited: []string{}})
}

// serveReady answers 503 with what is awaited until the server is ready.
func serveReady(w http.ResponseWriter, b Backend) {
	awaited := b.Awaited()
	if len(awaited) > 0 {
		writeJSON(w, http.StatusServiceUnavailable, Readiness{Awaited: awaited})
		return
	}
	writeJSON(w, http.StatusOK, Readiness{OK: true, Awaited: []string{}})
}
