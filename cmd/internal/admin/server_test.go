package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gslbd/zone"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// exchange makes one request to the interface without a socket.
func exchange(t *testing.T, b Backend, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	handler(b, newEventServer(b)).ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
	return w
}

func TestReplies(t *testing.T) {
	waiting := &fake{awaited: []string{"www.example.com/A 192.0.2.10: first web probe"}}
	tests := []struct {
		name, method, target string
		backend              *fake
		status               int
		body                 string
	}{
		{"status", "GET", "/api/v1/status?name=www.example.com", &fake{}, 200, `"groups":[{"name":"www.example.com"`},
		{"status of an unknown name", "GET", "/api/v1/status?name=nix", &fake{}, 404, `{"error":"no group is named nix","hint":"look again"}`},
		{"explain", "GET", "/api/v1/explain?name=www", &fake{}, 200, `"reason":"<because>"`},
		{"explain nothing", "GET", "/api/v1/explain", &fake{}, 400, `"error":"name is missing"`},
		{"explain live=perhaps", "GET", "/api/v1/explain?name=www&live=perhaps", &fake{}, 400, `"error":"live=perhaps is neither true nor false"`},
		{"explain a bad question", "GET", "/api/v1/explain?name=www&type=NONE", &fake{}, 400, `"error":"not a type"`},
		{"explain with broken files", "GET", "/api/v1/explain?name=www&type=FAULT", &fake{}, 500, `"error":"z:3: broken"`},
		{"reload", "POST", "/api/v1/reload", &fake{}, 200, `{"ok":true,"problems":[],"zones":[` +
			`{"name":"a.example","before":1,"serial":2},{"name":"b.example","before":1,"serial":1},` +
			`{"name":"new.example","before":null,"serial":5},{"name":"old.example","before":4,"serial":null}]}`},
		{"reload refused", "POST", "/api/v1/reload", &fake{problems: zone.Problems{{File: "z", Severity: zone.Error, Message: "m"}}}, 422,
			`{"ok":false,"problems":[{"file":"z","line":0,"severity":"error","message":"m","hint":""}],"zones":[]}`},
		{"reload accept=perhaps", "POST", "/api/v1/reload?accept_unsteered=perhaps", &fake{}, 400, `neither true nor false`},
		{"reload by GET", "GET", "/api/v1/reload", &fake{}, 405, `"error":"/api/v1/reload does not take GET","hint":"use POST"`},
		{"status by DELETE", "DELETE", "/api/v1/status", &fake{}, 405, `"hint":"use GET"`},
		{"alive", "GET", "/healthz", waiting, 200, `{"ok":true,"awaited":[]}`},
		{"ready", "GET", "/readyz", &fake{}, 200, `{"ok":true,"awaited":[]}`},
		{"not ready", "GET", "/readyz", waiting, 503, `{"ok":false,"awaited":["www.example.com/A 192.0.2.10: first web probe"]}`},
		{"unknown", "GET", "/metrics", &fake{}, 404, `"error":"no such path: /metrics"`},
		{"events by POST", "POST", "/api/v1/events", &fake{}, 405, `"hint":"use GET"`},
		{"the paths there are", "GET", "/api", &fake{}, 404, "/api/v1/status, /api/v1/explain, /api/v1/events, /api/v1/reload, /healthz and /readyz"},
		{"root", "GET", "/", &fake{}, 404, `"error":"no such path: /"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := exchange(t, tt.backend, tt.method, tt.target, "")
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.body) {
				t.Errorf("got %d %s\nwant %d %s", w.Code, w.Body, tt.status, tt.body)
			}
			if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
				t.Errorf("content type is %q", got)
			}
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("not JSON: %s", w.Body)
			}
		})
	}
}

func TestExplainQuery(t *testing.T) {
	f := &fake{}
	exchange(t, f, "GET", "/api/v1/explain?name=www&type=AAAA&client=192.0.2.9&down=a&down=b/A&up=c&live=1", "")
	want := "{Name:www Type:AAAA Client:192.0.2.9 Down:[a b/A] Up:[c] Live:true}"
	if got := sprint(f.query); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestLimits: a question that is too long is refused, a body that is too long
// is not read, and neither does harm.
func TestLimits(t *testing.T) {
	_, client, _ := start(t, &fake{})
	if _, err := client.Explain(t.Context(), ExplainQuery{Name: strings.Repeat("x", 2*maxHeader)}); err == nil {
		t.Error("a question of twice the limit was taken")
	}
	body := strings.NewReader(strings.Repeat("x", 20*maxBody))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gslbd/api/v1/reload", body)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := client.http.Do(req); err == nil { // or the server hangs up
		resp.Body.Close()
	}
	if _, err := client.Ready(t.Context()); err != nil {
		t.Errorf("after a long body: %v", err)
	}
}

// TestStopWaits: a reload in hand is finished, and the socket file is gone.
func TestStopWaits(t *testing.T) {
	f := &fake{hold: make(chan struct{}), entered: make(chan struct{})}
	path := socketPath(t)
	s := New(path, f, nil)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		reply, err := NewClient(path).Reload(context.Background(), true)
		if err == nil && !reply.OK {
			err = errors.New("not ok")
		}
		done <- err
	}()
	<-f.entered
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop(t, s) }()
	close(f.hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
	<-stopped
	if _, err := os.Lstat(path); err == nil {
		t.Errorf("%s is still there", path)
	}
}

// TestStopCutsOff: a request that does not end holds the stop no longer than
// its context.
func TestStopCutsOff(t *testing.T) {
	f := &fake{hold: make(chan struct{}), entered: make(chan struct{})}
	path := socketPath(t)
	s := New(path, f, nil)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := NewClient(path).Reload(context.Background(), false); done <- err }()
	<-f.entered
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stop: %v, want that the deadline passed", err)
	}
	if err := <-done; err == nil {
		t.Error("the request was answered")
	}
}

func TestStopWithoutStart(t *testing.T) {
	stop(t, New("never", &fake{}, nil))
}
