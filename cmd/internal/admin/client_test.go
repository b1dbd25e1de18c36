package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gslbd/zone"
)

func TestClientStatus(t *testing.T) {
	_, client, _ := start(t, &fake{})
	status, err := client.Status(t.Context(), "")
	if err != nil || status.Version != "v1" || len(status.Groups) != 1 || !status.Ready {
		t.Errorf("got %+v, %v", status, err)
	}
	_, err = client.Status(t.Context(), "nix")
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusNotFound || e.Message != "no group is named nix" || e.Hint != "look again" {
		t.Errorf("got %+v", err)
	}
}

func TestClientExplain(t *testing.T) {
	f := &fake{}
	_, client, _ := start(t, f)
	q := ExplainQuery{Name: "www", Type: "A", Client: "2001:db8::1", Down: []string{"pool:primary", "x&y"}, Up: []string{"*"}, Live: true}
	e, err := client.Explain(t.Context(), q)
	if err != nil || e.Name != "www" || e.Reason != "<because>" {
		t.Errorf("got %+v, %v", e, err)
	}
	if sprint(f.query) != sprint(q) {
		t.Errorf("the server was asked %+v, want %+v", f.query, q)
	}
	if _, err := client.Explain(t.Context(), ExplainQuery{Name: "www"}); err != nil {
		t.Error(err)
	}
	if f.query.Live || f.query.Type != "" || f.query.Client != "" {
		t.Errorf("the server was asked %+v", f.query)
	}
}

func TestClientReload(t *testing.T) {
	f := &fake{}
	_, client, _ := start(t, f)
	for _, accept := range []bool{true, false} {
		if reply, err := client.Reload(t.Context(), accept); err != nil || !reply.OK || len(reply.Zones) < 3 {
			t.Errorf("got %+v, %v", reply, err)
		}
	}
	if sprint(f.accepted) != "[true false]" {
		t.Errorf("the server was told %v", f.accepted)
	}
	f.problems = zone.Problems{
		{File: "a.zone", Line: 7, Severity: zone.Error, Message: "bad", Hint: "mend it"},
		{File: "b.zone", Severity: zone.Warning, Message: "odd"},
	}
	reply, err := client.Reload(t.Context(), false)
	if err != nil || reply.OK || sprint(reply.Problems) != sprint(f.problems) {
		t.Errorf("got %+v, %v", reply, err)
	}
}

func TestClientReady(t *testing.T) {
	f := &fake{awaited: []string{"a", "b"}}
	_, client, _ := start(t, f)
	r, err := client.Ready(t.Context())
	if err != nil || r.OK || sprint(r.Awaited) != "[a b]" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestClientWithoutServer(t *testing.T) {
	path := socketPath(t)
	want := "no gslbd answers on " + path + ": no such file or directory\n" +
		"  hint: start it with gslbd serve, or name the socket of the running one with --socket or --config"
	if _, err := NewClient(path).Status(t.Context(), ""); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	leaveStale(t, path)
	if _, err := NewClient(path).Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused\n  hint: start it") {
		t.Errorf("got %v", err)
	}
}

// TestClientCancelled: a server that never answers does not hold the client.
func TestClientCancelled(t *testing.T) {
	path := socketPath(t)
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := NewClient(path).Status(ctx, ""); err == nil || !strings.Contains(err.Error(), "context deadline exceeded") {
		t.Errorf("got %v", err)
	}
}

// TestClientOfAnother: something else answers on the socket.
func TestClientOfAnother(t *testing.T) {
	path := socketPath(t)
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("<html>"))
	})}
	go srv.Serve(ln)
	defer srv.Close()
	if _, err := NewClient(path).Status(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "is not gslbd's") {
		t.Errorf("got %v", err)
	}
}
