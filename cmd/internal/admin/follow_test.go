package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestClientEvents(t *testing.T) {
	f := &fake{}
	_, client, _ := start(t, f)
	if events, err := client.Events(t.Context(), 0); err != nil || len(events) != 0 {
		t.Errorf("got %v, %v", events, err)
	}
	f.happen(EventStart, EventFault, EventStop)
	events, err := client.Events(t.Context(), 1)
	if err != nil || len(events) != 2 || events[0].ID != 2 || events[1].Kind != EventStop || events[0].Cause != "a < b\nc" {
		t.Errorf("got %+v, %v", events, err)
	}
}

// TestFollow: what is remembered, then what happens, until the reader has
// enough or the server stops.
func TestFollow(t *testing.T) {
	f := &fake{}
	s, client, path := start(t, f)
	f.happen(EventStart, EventMember)
	enough := errors.New("enough")
	var got []string
	err := client.Follow(t.Context(), 1, func(e Event) error {
		got = append(got, fmt.Sprint(e.ID, e.Kind, e.Time.Second()))
		if e.ID == 4 {
			return enough
		}
		f.happen([]string{EventPool, EventGroup}[e.ID-2])
		return nil
	})
	if want := "[2member2 3pool3 4group4]"; err != enough || sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}

	ctx, cancel := context.WithCancel(t.Context())
	err = client.Follow(ctx, 3, func(Event) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}

	err = client.Follow(t.Context(), 3, func(Event) error { go stop(t, s); return nil })
	if want := "the server on " + path + " has ended the stream of events"; err == nil || err.Error() != want {
		t.Errorf("stopped: got %v, want %s", err, want)
	}
	<-s.done
	err = client.Follow(t.Context(), 3, func(Event) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "no gslbd answers on "+path) {
		t.Errorf("nobody there: got %v", err)
	}
}

// TestFollowAnother: whatever answers, the client neither hangs nor takes it
// for events.
func TestFollowAnother(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	long := strings.Repeat("x", 1<<20)
	tests := []struct {
		name, answer string
		ids          string
		want         string
	}{
		{"an older version", "HTTP/1.1 404 Not Found\r\n\r\n" + `{"error":"no such path: /api/v1/events","hint":"there is /healthz"}`, "[]", "no such path: /api/v1/events\n  hint: there is /healthz"},
		{"too many", "HTTP/1.1 503 Service Unavailable\r\n\r\n" + `{"error":"64 readers","hint":"wait"}`, "[]", "64 readers\n  hint: wait"},
		{"no document", "HTTP/1.1 500 Oh\r\n\r\n<html>", "[]", "is not gslbd's: invalid character"},
		{"no stream", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\ndata: {\"id\":1}\n\n", "[]", `is not gslbd's: "text/html" is not a stream of events`},
		{"nothing", "", "[]", "no gslbd answers on "},
		{"an empty stream", ok, "[]", "has ended the stream of events"},
		{"comments, blank lines, other fields", ok + ": data: {\n:\n\n\n\nretry: 1\nid\nfoo: bar\n\ndata: {\"id\":7}\n\n", "[7]", "has ended"},
		{"CRLF", ok + "data: {\"id\":7}\r\n\r\ndata:{\"id\":8}\r\n\r\n", "[7 8]", "has ended"},
		{"several lines of data", ok + "data: {\ndata: \"id\":\nid: 9\ndata: 7 }\n\n", "[7]", "has ended"},
		{"fields of a later version", ok + "data: {\"id\":7,\"colour\":[{}]}\n\n", "[7]", "has ended"},
		{"cut off", ok + "data: {\"id\":7}\n\ndata: {\"id\":8}\n", "[7]", "has ended"},
		{"cut off within a chunk", strings.Replace(ok, "\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n", 1) + "ff\r\ndata: {\"id\":7}\n\n", "[7]", "has broken off the stream of events, as one does that was killed"},
		{"no JSON", ok + "data: {\"id\":7}\n\ndata: up\n\n", "[7]", "is not gslbd's: invalid character"},
		{"a wrong type", ok + "data: {\"id\":\"7\"}\n\n", "[]", "is not gslbd's: json: cannot unmarshal"},
		{"a long line", ok + "data: {\"id\":7,\"cause\":\"" + long + "\"}\n\n", "[7]", "has ended"},
		{"a line without end", ok + "data: " + strings.Repeat(long, 17), "[]", "is not gslbd's: bufio.Scanner: token too long"},
		{"data without end", ok + strings.Repeat("data: "+long+"\n", 17), "[]", "is not gslbd's: bufio.Scanner: token too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := answering(t, tt.answer)
			ids := []uint64{}
			err := client.Follow(t.Context(), 0, func(e Event) error { ids = append(ids, e.ID); return nil })
			if err == nil || !strings.Contains(err.Error(), tt.want) || sprint(ids) != tt.ids {
				t.Errorf("got %v, %v\nwant %s, %s", ids, err, tt.ids, tt.want)
			}
		})
	}
}

// answering gives a client of something that sends text whatever it is asked,
// and hangs up.
func answering(t *testing.T, text string) *Client {
	t.Helper()
	path := socketPath(t)
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := conn.Read(make([]byte, 4096)); err == nil {
			_, _ = io.WriteString(conn, text) // the client may hang up first
		}
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	return NewClient(path)
}

// TestFollowAsks: for a stream, and from which event on.
func TestFollowAsks(t *testing.T) {
	path := socketPath(t)
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 1)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.RequestURI + " " + r.Header.Get("Accept")
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	})}
	go srv.Serve(ln)
	defer srv.Close()
	if err := NewClient(path).Follow(t.Context(), 1<<63, nil); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("got %v", err)
	}
	if got, want := <-asked, "GET /api/v1/events?after=9223372036854775808 text/event-stream"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}
