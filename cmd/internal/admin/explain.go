package admin

import (
	"net/http"
	"net/url"
	"strconv"
)

func serveExplain(w http.ResponseWriter, r *http.Request, b Backend) {
	q, err := explainQuery(r.URL.Query())
	if err != nil {
		writeError(w, err)
		return
	}
	explanation, err := b.Explain(q)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, explanation)
}

// explainQuery reads ?name=&type=&client=&down=&up=&live=; down and up may
// stand several times.
func explainQuery(v url.Values) (ExplainQuery, error) {
	q := ExplainQuery{
		Name:   v.Get("name"),
		Type:   v.Get("type"),
		Client: v.Get("client"),
		Down:   v["down"],
		Up:     v["up"],
	}
	if q.Name == "" {
		return q, &Error{Message: "name is missing", Hint: "ask for /api/v1/explain?name=www.example.com"}
	}
	if live := v.Get("live"); live != "" {
		var err error
		if q.Live, err = strconv.ParseBool(live); err != nil {
			return q, &Error{Message: "live=" + live + " is neither true nor false", Hint: "write live=true or live=false"}
		}
	}
	return q, nil
}

// values is the reverse of explainQuery.
func (q ExplainQuery) values() url.Values {
	v := url.Values{"name": {q.Name}, "live": {strconv.FormatBool(q.Live)}, "down": q.Down, "up": q.Up}
	if q.Type != "" {
		v.Set("type", q.Type)
	}
	if q.Client != "" {
		v.Set("client", q.Client)
	}
	return v
}
