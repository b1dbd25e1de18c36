package admin

import (
	"encoding/json"
	"errors"
	"net/http"
)

// writeJSON sends one document. An error here means that the peer has gone.
func writeJSON(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(doc)
}

// writeError sends a refusal; an *Error keeps its own status.
func writeError(w http.ResponseWriter, err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Status: http.StatusInternalServerError, Message: err.Error()}
	}
	status := e.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	writeJSON(w, status, e)
}

// serveUnknown tells a path that does not exist from a method that a path
// does not take, which the ServeMux would do in plain text.
func serveUnknown(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "" {
			w.Header().Set("Allow", method)
			writeError(w, &Error{
				Status:  http.StatusMethodNotAllowed,
				Message: r.URL.Path + " does not take " + r.Method,
				Hint:    "use " + method,
			})
			return
		}
	}
	writeError(w, &Error{
		Status:  http.StatusNotFound,
		Message: "no such path: " + r.URL.Path,
		Hint:    "there are /api/v1/status, /api/v1/explain, /api/v1/events, /api/v1/reload, /healthz and /readyz",
	})
}
