package app

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"gslbd/health"
)

// happened gives the events after an ID as lines of what matters here.
func happened(a *App, after uint64) (lines []string) {
	events, _ := a.Events(after)
	for _, e := range events {
		what := strings.TrimSpace(e.Name + " " + e.Pool + " " + e.Member)
		if e.Kind == health.EventReload {
			what = e.Zone
		}
		line := fmt.Sprintf("%s %s %s-%s: %s", e.Kind, what, e.From, e.To, e.Cause)
		if e.NewAnswer != nil {
			line += fmt.Sprint(e.OldAnswer, e.NewAnswer)
		}
		lines = append(lines, line)
	}
	return lines
}

func awaitEvents(t *testing.T, a *App, after uint64, want ...string) {
	t.Helper()
	awaitCount(t, a, after, len(want))
	got := happened(a, after)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func awaitCount(t *testing.T, a *App, after uint64, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d events", n), func() bool { return len(happened(a, after)) >= n })
}

// A target that is there, dies, and the life of the server around it: all is in
// memory and in the file, also after a restart, with IDs that count on.
func TestEventsOverALife(t *testing.T) {
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	dirWith(t, "state_dir: state\nchecks:\n  near: { type: tcp, interval: 100ms, timeout: 1s, fall: 2, rise: 2 }\n",
		header+"www A 127.0.0.1 ; @primary check=near id=tokyo target="+target.Addr().String()+"\nwww A 127.0.0.2 ; @secondary check=none\n")
	a, _ := launchHere(t)
	awaitEvents(t, a, 0,
		"start  -: version v1.2.3",
		"member www.example.com primary tokyo unknown-up: a round passed",
		"pool www.example.com primary unknown-healthy: 1 of 1 up",
		`group www.example.com primary degraded-healthy: pool "primary" answers (1 of 1 up)`)
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
	awaitEvents(t, a, 4,
		"member www.example.com primary tokyo up-down: 2 rounds in a row failed: connect: connection refused",
		"pool www.example.com primary healthy-critical: 0 of 1 up",
		`group www.example.com secondary healthy-degraded: pool "primary" is down (0 of 1 up); pool "secondary" answers[127.0.0.1] [127.0.0.2]`)
	a.End(syscall.SIGTERM)
	var kept []health.Event
	for line := range strings.Lines(content(t, "state/events.jsonl")) {
		var e health.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, e)
	}
	if len(kept) != 8 || kept[4].Cause != "2 rounds in a row failed: connect: connection refused" || kept[7].Cause != "signal: terminated" {
		t.Fatalf("%+v", kept)
	}
	b, _ := launchHere(t)
	awaitCount(t, b, 0, 9)
	all, _ := b.Events(0)
	if all[0].ID != 1 || all[8].ID != 9 || all[8].Cause != "version v1.2.3" {
		t.Errorf("%+v", all)
	}
	stopApp(t, b) // without a word, as a crash is
	c, _ := launchHere(t)
	awaitEvents(t, c, 9, "start  -: version v1.2.3; the run before did not end by a stop")
}

// Reloads of everything and of a zone, done and refused, say what led to them or
// what was wrong.
func TestEventsOfReloads(t *testing.T) {
	a, _ := launch(t, "watch: true\n", serial(1, pairs))
	awaitCount(t, a, 0, 1)
	if problems := a.Reload(t.Context(), false); problems.Failed(false) {
		t.Fatal(problems)
	}
	awaitEvents(t, a, 1, "reload  -done: asked for on the admin interface")
	put(t, "a.zone", serial(2, "www A 127.0.0.9 ; @primary check=none\n"))
	awaitZone(t, a, 2, "")
	awaitCount(t, a, 2, 2)
	got := strings.Join(happened(a, 2), "\n")
	contains(t, got, "reload example.com -done: its file changed: serial 1 -> 2", "[127.0.0.1] [127.0.0.9]")
	put(t, "a.zone", serial(2, "www A 127.0.0.8 ; @primary check=none\n"))
	same := "changed on disk, serial still 2: not loaded; raise the serial or run gslbd reload"
	awaitEvents(t, a, 4, "reload example.com -refused: "+same)
	put(t, "a.zone", serial(3, "www A x\n"))
	awaitCount(t, a, 5, 1)
	contains(t, happened(a, 5)[0], `reload example.com -refused: a.zone:6: "x" is not an IPv4 address`)
	put(t, "gslbd.yaml", "listen: 1\nzones: 2\n")
	a.Reload(t.Context(), false)
	awaitCount(t, a, 6, 1)
	contains(t, happened(a, 6)[0], "reload  -refused: gslbd.yaml:", "(and ")
}

// A file that cannot be read costs the past, a start that fails is told as the
// end of it.
func TestEventsWithoutTheFile(t *testing.T) {
	dirWith(t, "state_dir: state\n", header+pairs)
	put(t, "state/events.jsonl/x", "")
	a, logs := launchHere(t)
	if logs.FilterMessage("events of before are not known").Len() != 1 {
		t.Errorf("%v", logs.All())
	}
	awaitEvents(t, a, 0, "start  -: version v1.2.3")
	awaitLog(t, logs, "events could not be written")
	if err := os.RemoveAll("state/events.jsonl"); err != nil {
		t.Fatal(err)
	}
	stopApp(t, a) // what could not be written is tried once more
	contains(t, content(t, "state/events.jsonl"), `"kind":"start"`)
	put(t, "gslbd.sock/x", "")
	failing, err := New(a.cur.cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := failing.Start(); err == nil {
		t.Fatal("started without a socket")
	}
	lines := strings.Split(content(t, "state/events.jsonl"), "\n")
	contains(t, lines[len(lines)-2], `"kind":"stop"`, `"cause":"the start failed: `)
}

// The stop is the last event also when much happens during it: the next start
// must not take it for a crash.
func TestEventsEndWithTheStop(t *testing.T) {
	dirWith(t, "state_dir: state\nchecks:\n  near: { type: exec, command: [/bin/sh, -c, exit 1], interval: 100ms, fall: 1 }\n",
		header+"$GENERATE 1-2000 w$ A 127.0.0.1 ; @primary check=near\n")
	a, _ := launchHere(t)
	awaitCount(t, a, 0, 2)
	a.End(syscall.SIGTERM)
	lines := strings.Split(strings.TrimSpace(content(t, "state/events.jsonl")), "\n")
	contains(t, lines[len(lines)-1], `"kind":"stop","cause":"signal: terminated"`)
	b, _ := launchHere(t)
	for _, line := range happened(b, 0) {
		if strings.Contains(line, "did not end") {
			t.Error(line)
		}
	}
}
