package admin

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"gslbd/health"
	"gslbd/zone"
)

// fake is a Backend that plays back what a test gives it and keeps what it
// was asked.
type fake struct {
	mu       sync.Mutex
	query    ExplainQuery
	accepted []bool
	awaited  []string
	problems zone.Problems
	hold     chan struct{} // Reload waits for it, when not nil
	entered  chan struct{}
	events   []Event
	newest   uint64        // ID
	more     chan struct{} // closed with the next event
}

func (f *fake) Status(name string) (health.Status, error) {
	groups := []health.GroupStatus{{Name: "www.example.com", Type: "A", State: "healthy", Answer: []string{"192.0.2.10"}}}
	switch name {
	case "":
	case "www.example.com":
		groups = groups[:1]
	default:
		return health.Status{}, &Error{Status: http.StatusNotFound, Message: "no group is named " + name, Hint: "look again"}
	}
	return health.Status{Version: "v1", Node: "n1", Ready: true, Groups: groups, Zones: []health.ZoneStatus{}}, nil
}

func (f *fake) Explain(q ExplainQuery) (Explanation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.query = q
	if q.Type == "NONE" {
		return Explanation{}, &Error{Message: "not a type"}
	}
	if q.Type == "FAULT" {
		return Explanation{}, zone.Problems{{File: "z", Line: 3, Severity: zone.Error, Message: "broken"}}
	}
	return Explanation{Name: q.Name, Type: "A", RCode: "NOERROR", Answer: []string{"192.0.2.10"}, Reason: "<because>"}, nil
}

func (f *fake) Reload(ctx context.Context, accept bool) zone.Problems {
	if f.hold != nil {
		close(f.entered)
		select {
		case <-f.hold:
		case <-ctx.Done():
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accepted = append(f.accepted, accept)
	return f.problems
}

// Serials tells what a reload that was not refused did.
func (f *fake) Serials() map[string]uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.accepted) == 0 || f.problems.Failed(false) {
		return map[string]uint32{"a.example": 1, "b.example": 1, "old.example": 4}
	}
	return map[string]uint32{"a.example": 2, "b.example": 1, "new.example": 5}
}

func (f *fake) Awaited() []string { return f.awaited }

// remembered is how many events the fake keeps.
const remembered = 5

func (f *fake) Events(after uint64) ([]Event, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.more == nil {
		f.more = make(chan struct{})
	}
	if after > f.newest {
		after = 0
	}
	events := slices.Clone(f.events)
	return slices.DeleteFunc(events, func(e Event) bool { return e.ID <= after }), f.more
}

// happen adds one event of each kind, all at once.
func (f *fake) happen(kinds ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kind := range kinds {
		f.newest++
		at := time.Date(2026, 11, 29, 12, 0, int(f.newest), 0, time.UTC)
		f.events = append(f.events, Event{ID: f.newest, Time: at, Kind: kind, Cause: "a < b\nc"})
	}
	f.events = f.events[max(0, len(f.events)-remembered):]
	if f.more != nil {
		close(f.more)
	}
	f.more = make(chan struct{})
}

// socketPath gives a path short enough for a Unix socket, whatever the test's
// name.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gslbd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "admin.sock")
}

// start runs a server for the backend until the test ends.
func start(t *testing.T, b Backend) (*Server, *Client, string) {
	t.Helper()
	path := socketPath(t)
	s := New(path, b, nil)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s, NewClient(path), path
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}
