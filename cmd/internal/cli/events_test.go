package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslbd/cmd/internal/admin"
)

// happened has an event of every kind.
func happened() []admin.Event {
	all := []admin.Event{
		{Kind: admin.EventStart, Cause: "gslbd v1.2.3"},
		{Kind: admin.EventMember, Name: "www.example.com", Type: "A", Member: "tokyo", Pool: "primary", Target: "192.0.2.10:80", Check: "web",
			From: "up", To: "down", Cause: "2 rounds in a row failed: connect: connection refused"},
		{Kind: admin.EventPool, Name: "www.example.com", Type: "A", Pool: "primary", From: "healthy", To: "critical", Cause: "0 of 1 up"},
		{Kind: admin.EventGroup, Name: "www.example.com", Type: "A", Pool: "secondary", OldPool: "primary", From: "healthy", To: "degraded",
			OldAnswer: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"}, NewAnswer: []string{"198.51.100.10"}, Cause: `pool "secondary" answers`},
		{Kind: admin.EventGroup, Name: "www.example.com", Type: "A", From: "healthy", To: "degraded",
			OldAnswer: []string{"192.0.2.1"}, NewAnswer: []string{"192.0.2.1"}, Cause: "1 of 2 up"},
		{Kind: admin.EventGroup, Name: "www.example.com", Type: "A", Pool: "fallback", From: "critical", To: "critical", Cause: "last resort"},
		{Kind: admin.EventGroup, Name: "www.example.com", Type: "A", From: "critical", To: "critical", OldAnswer: []string{"192.0.2.1"}, NewAnswer: []string{}, Cause: "all_down"},
		{Kind: admin.EventFault, Check: "ping", Target: "192.0.2.10", Members: 3, To: "begun", Cause: "no right to ping"},
		{Kind: admin.EventFault, From: "begun", To: "over", Cause: "reading events.jsonl"},
		{Kind: admin.EventReload, To: "refused", Cause: "a.zone:7: bad\n  hint: mend\tit\x1b[2J\r\n"},
		{Kind: admin.EventReload, Zone: "example.com", To: "done", Cause: "serial 7 -> 8"},
		{Kind: admin.EventMember, Name: "www.example.com", Type: "AAAA", Member: "2001:db8::1", Pool: "primary", To: "up", Cause: "first result"},
		{Kind: "moon", From: "new", To: "full"},
		{Kind: admin.EventStop},
	}
	for i := range all {
		all[i].ID = uint64(i + 1)
		all[i].Time = time.Date(2026, 11, 29, 12, 11, i, 987654321, time.Local)
	}
	return all
}

const eventText = `TIME                 KIND    WHAT                                        CHANGE                                                               WHY
2026-11-29 12:11:00  start   server                                                                                                           gslbd v1.2.3
2026-11-29 12:11:01  member  www.example.com/A tokyo (primary)           up -> down                                                           web: 2 rounds in a row failed: connect: connection refused
2026-11-29 12:11:02  pool    www.example.com/A pool primary              healthy -> critical                                                  0 of 1 up
2026-11-29 12:11:03  group   www.example.com/A                           192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 and 1 more -> 198.51.100.10  pool "secondary" answers
2026-11-29 12:11:04  group   www.example.com/A                           healthy -> degraded                                                  1 of 2 up
2026-11-29 12:11:05  group   www.example.com/A                           - -> fallback                                                        last resort
2026-11-29 12:11:06  group   www.example.com/A                           192.0.2.1 -> -                                                       all_down
2026-11-29 12:11:07  fault   ping 192.0.2.10 (3 members)                 begun                                                                no right to ping
2026-11-29 12:11:08  fault   -                                           begun -> over                                                        reading events.jsonl
2026-11-29 12:11:09  reload  configuration and zones                     refused                                                              a.zone:7: bad; hint: mend it [2J
2026-11-29 12:11:10  reload  zone example.com                            done                                                                 serial 7 -> 8
2026-11-29 12:11:11  member  www.example.com/AAAA 2001:db8::1 (primary)  up                                                                   first result
2026-11-29 12:11:12  moon    -                                           new -> full
2026-11-29 12:11:13  stop    server
`

// TestPrintEvents: one line for each, whatever its kind.
func TestPrintEvents(t *testing.T) {
	if got := printed(func(s *shell) { s.printEvents(happened()) }); got != eventText {
		t.Errorf("got\n%s\nwant\n%s", got, eventText)
	}
	if got := printed(func(s *shell) { s.printEvents(nil) }); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// TestEventColours: the new state gives the colour of the change.
func TestEventColours(t *testing.T) {
	want := map[string]style{"down": red, "critical": red, "degraded": yellow, "begun": red, "over": green, "refused": red, "done": green, "up": green, "full": plain, "": plain}
	for _, e := range happened() {
		if got := eventRow(e)[3].style; got != want[e.To] {
			t.Errorf("%s: got %q, want %q", e.To, got, want[e.To])
		}
	}
}

// eventServer is a server whose list of events is given by the test. It ends
// streams when told is closed.
type eventServer struct {
	events []admin.Event
	told   chan struct{}
}

func (f *eventServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Accept") != "text/event-stream" {
		_ = json.NewEncoder(w).Encode(admin.EventList{Events: f.events})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range f.events {
		data, _ := json.Marshal(e)
		fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Kind, data)
	}
	w.(http.Flusher).Flush()
	select {
	case <-f.told:
	case <-r.Context().Done():
	}
}

// serving answers on gslbd.sock of a new working directory.
func serving(t *testing.T, h http.Handler) {
	t.Helper()
	inSite(t)
	ln, err := net.Listen("unix", "gslbd.sock")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
}

// TestEvents: what is remembered, as a table and as a document.
func TestEvents(t *testing.T) {
	f := &eventServer{events: happened()}
	serving(t, f)
	stdout, stderr, code := call(nil, "events")
	if code != 0 || stderr != "" || stdout != eventText {
		t.Errorf("got %d %s\n%s", code, stderr, stdout)
	}
	stdout, stderr, code = call(nil, "events", "--json")
	var list admin.EventList
	dec := json.NewDecoder(strings.NewReader(stdout))
	if err := dec.Decode(&list); err != nil || dec.More() || code != 0 || stderr != "" || len(list.Events) != len(f.events) {
		t.Errorf("got %d %s\n%s", code, stderr, stdout)
	}
	if want := `"new_answer": []`; !strings.Contains(stdout, want) || !strings.Contains(stdout, `"cause": "2 rounds in a row failed: connect: connection refused"`) {
		t.Errorf("%s is missing in\n%s", want, stdout)
	}
	f.events = nil
	if stdout, stderr, code := call(nil, "events", "--json"); code != 0 || stderr != "" || stdout != "{\n  \"events\": []\n}\n" {
		t.Errorf("of nothing: got %d %s\n%s", code, stderr, stdout)
	}
	if stdout, stderr, code := call(nil, "events"); code != 0 || stderr != "" || stdout != "" {
		t.Errorf("of nothing: got %d %s\n%s", code, stderr, stdout)
	}
}

// TestEventsOfOldServer: one that has no events says so.
func TestEventsOfOldServer(t *testing.T) {
	serving(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"no such path: /api/v1/events","hint":"there is /healthz"}`)
	}))
	for _, flags := range []string{"", "--json", "-f", "--follow --json"} {
		stdout, stderr, code := call(nil, append([]string{"events"}, strings.Fields(flags)...)...)
		if want := "gslbd: no such path: /api/v1/events\n  hint: there is /healthz\n"; code != 1 || stdout != "" || stderr != want {
			t.Errorf("%s: got %d %q %q", flags, code, stdout, stderr)
		}
	}
}

// TestFollowEvents: lines of steady columns, until the server has gone.
func TestFollowEvents(t *testing.T) {
	all := happened()
	gap := all[:4:4]
	gap[1].ID, gap[2].ID, gap[3].ID = 3, 4, 14
	f := &eventServer{events: gap, told: make(chan struct{})}
	close(f.told)
	serving(t, f)
	const want = `TIME                 KIND    WHAT                                      CHANGE                WHY
2026-11-29 12:11:00  start   server                                                          gslbd v1.2.3
2026-11-29 12:11:01  member  www.example.com/A tokyo (primary)         up -> down            web: 2 rounds in a row failed: connect: connection refused
2026-11-29 12:11:02  pool    www.example.com/A pool primary            healthy -> critical   0 of 1 up
2026-11-29 12:11:03  group   www.example.com/A                         192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 and 1 more -> 198.51.100.10  pool "secondary" answers
`
	const told = "... 1 event was forgotten\n... 9 events were forgotten\ngslbd: the server on gslbd.sock has ended the stream of events\n"
	if stdout, stderr, code := call(nil, "events", "-f"); code != 1 || stdout != want || stderr != told {
		t.Errorf("got %d\n%s%s\nwant\n%s%s", code, stdout, stderr, want, told)
	}
	stdout, stderr, code := call(nil, "events", "--follow", "--json")
	if code != 1 || stderr != told || strings.Count(stdout, "\n") != len(gap) {
		t.Errorf("got %d\n%s%s", code, stdout, stderr)
	}
	for i, line := range strings.Split(strings.TrimSpace(stdout), "\n") {
		var e admin.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.ID != gap[i].ID || e.Cause != gap[i].Cause {
			t.Errorf("line %d: %v in %s", i, err, line)
		}
	}
}

// TestFollowInterrupted: whoever has seen enough has not failed.
func TestFollowInterrupted(t *testing.T) {
	serving(t, &eventServer{events: happened()})
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var stdout stream
		var stderr bytes.Buffer
		code := make(chan int, 1)
		go func() { code <- Main([]string{"events", "--follow"}, strings.NewReader(""), &stdout, &stderr, nil) }()
		stdout.await(t, "12:11:13  stop    server\n")
		raise(t, sig)
		if got := <-code; got != 0 || stderr.Len() > 0 {
			t.Errorf("%v: got %d %s", sig, got, &stderr)
		}
	}
}

// TestFollowReaderGone: it ends though no event comes, as a command does that
// nobody reads.
func TestFollowReaderGone(t *testing.T) {
	serving(t, &eventServer{events: happened()})
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() { code <- Main([]string{"events", "-f"}, strings.NewReader(""), write, &stderr, nil) }()
	for lines := bufio.NewScanner(read); lines.Scan() && !strings.Contains(lines.Text(), "stop    server"); {
	}
	read.Close()
	select {
	case got := <-code:
		if got != 1 || stderr.Len() > 0 {
			t.Errorf("got %d %s", got, &stderr)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on though nobody reads")
	}
}

// TestFollowUnread: the first line that cannot be written ends it.
func TestFollowUnread(t *testing.T) {
	serving(t, &eventServer{events: happened()})
	var stderr bytes.Buffer
	code := Main([]string{"events", "-f"}, strings.NewReader(""), &brittle{n: 300}, &stderr, nil)
	if code != 1 || stderr.String() != "gslbd: broken\n" {
		t.Errorf("got %d %s", code, &stderr)
	}
}

// What a probed program says cannot steer a terminal, nor turn a line around.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mb\u009bc\x7f":      "a [31mb c",
		"down\u202epu\u2066x\u200bx": "down pu x x",
		"one\r\ntwo\u2028three\n\n":  "one; two three",
		"日本 é\u3000\xff":             "日本 é \ufffd",
		"\ttab\x00":                  "tab",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
