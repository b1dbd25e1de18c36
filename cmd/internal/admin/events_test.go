package admin

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestEventList: the document holds what is after the ID that the reader knows.
func TestEventList(t *testing.T) {
	event := func(id int) string {
		return fmt.Sprintf(`{"id":%d,"time":"2026-11-29T12:00:%02dZ","kind":"member","cause":"a < b\nc"}`, id, id)
	}
	two := &fake{}
	two.happen(EventMember, EventMember)
	seven := &fake{}
	seven.happen(strings.Fields(strings.Repeat("member ", 7))...)
	const badHint = `,"hint":"write the id of the last event known, a whole number; 0 for all events"}`
	tests := []struct {
		name, query, last string
		backend           *fake
		status            int
		want              string
	}{
		{"nothing yet", "", "", &fake{}, 200, `{"events":[]}`},
		{"all", "", "", two, 200, `{"events":[` + event(1) + "," + event(2) + `]}`},
		{"after 0", "?after=0", "", two, 200, `{"events":[` + event(1) + "," + event(2) + `]}`},
		{"after one", "?after=1", "", two, 200, `{"events":[` + event(2) + `]}`},
		{"after the newest", "?after=2", "", two, 200, `{"events":[]}`},
		{"after one of another run", "?after=3", "", two, 200, `{"events":[` + event(1) + "," + event(2) + `]}`},
		{"some forgotten", "?after=1", "", seven, 200, `{"events":[` + event(3) + "," + event(4) + "," + event(5) + "," + event(6) + "," + event(7) + `]}`},
		{"by header", "", "1", two, 200, `{"events":[` + event(2) + `]}`},
		{"the header wins", "?after=0", "1", two, 200, `{"events":[` + event(2) + `]}`},
		{"a word", "?after=now", "", two, 400, `{"error":"after=now is not the ID of an event"` + badHint},
		{"negative", "?after=-1", "", two, 400, `{"error":"after=-1 is not the ID of an event"` + badHint},
		{"too large", "?after=18446744073709551616", "", two, 400, `{"error":"after=18446744073709551616 is not the ID of an event"` + badHint},
		{"a word in the header", "?after=1", "x", two, 400, `{"error":"Last-Event-ID: x is not the ID of an event"` + badHint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/api/v1/events"+tt.query, nil)
			if tt.last != "" {
				r.Header.Set("Last-Event-ID", tt.last)
			}
			w := httptest.NewRecorder()
			handler(tt.backend, newEventServer(tt.backend)).ServeHTTP(w, r)
			if w.Code != tt.status || w.Body.String() != tt.want+"\n" {
				t.Errorf("got  %d %s\nwant %d %s", w.Code, w.Body, tt.status, tt.want)
			}
		})
	}
}

func TestTakesStream(t *testing.T) {
	tests := map[string]bool{
		"":                                  false,
		"*/*":                               false,
		"text/*":                            false,
		"application/json":                  false,
		"text/event-stream":                 true,
		"Text/Event-Stream":                 true,
		"text/html, text/event-stream;q=.1": true,
		"text/event-stream; charset=utf-8":  true,
		"text/event-stream;q=0":             false,
		"text/event-stream; Q=0.000":        false,
		"text/event-stream;q=0, */*":        false,
		"text/event-streams":                false,
		";;,text/event-stream;=,,":          false,
	}
	for accept, want := range tests {
		if got := takesStream([]string{accept}); got != want {
			t.Errorf("%q: got %v", accept, got)
		}
	}
	if !takesStream([]string{"text/html", "text/event-stream"}) {
		t.Error("the second line is not read")
	}
}
