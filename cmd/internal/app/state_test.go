package app

import (
	"bytes"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslbd/health"
)

const (
	stateText = `
state_dir: state
state_max_age: 1h
checks:
  far: { type: tcp, interval: 1h, timeout: 5m, fall: 2, rise: 2, send: x, expect: never }
`
	wwwSave = `"zone":"example.com.","name":"www.example.com.","type":"A"`
)

// savedAt makes a state file in which www kept its secondary while all was down.
func savedAt(t *testing.T, when time.Time) {
	t.Helper()
	member := func(data string) health.SavedMember {
		return health.SavedMember{Data: data, State: "down", Since: when}
	}
	var text bytes.Buffer
	err := encode(&text, document{Version: stateVersion, Time: when, Saved: health.Saved{Groups: []health.SavedGroup{{
		Zone: "example.com.", Name: "www.example.com.", Type: "A", Pool: "secondary", Rule: "keep", Since: when,
		Answer: []string{"127.0.0.2"}, Previous: []string{"127.0.0.2"},
		Members: []health.SavedMember{member("127.0.0.1"), member("127.0.0.2")},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, "state/state.json", text.String())
}

// The first answer is the saved one, if it is young enough; nothing else stops
// the start.
func TestStateAtStart(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never says a word
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	target := " check=far target=" + silent.Addr().String() + "\n"
	pair := header + "www A 127.0.0.1 ; @primary" + target + "www A 127.0.0.2 ; @secondary" + target
	for _, row := range []struct {
		name    string
		prepare func(t *testing.T)
		answer  string
		event   string
		aside   bool
	}{
		{"young", func(t *testing.T) { savedAt(t, time.Now().Add(-59*time.Minute)) }, "127.0.0.2", "saved state used", false},
		{"clock a little behind", func(t *testing.T) { savedAt(t, time.Now().Add(59*time.Minute)) }, "127.0.0.2", "saved state used", false},
		{"old", func(t *testing.T) { savedAt(t, time.Now().Add(-61*time.Minute)) }, "127.0.0.1",
			"saved state not used: older than state_max_age", false},
		{"from the future", func(t *testing.T) { savedAt(t, time.Now().Add(61*time.Minute)) }, "127.0.0.1",
			"saved state not used: from the future by more than state_max_age", false},
		{"damaged", func(t *testing.T) { put(t, "state/state.json", "{") }, "127.0.0.1",
			"saved state not used: every member begins as unknown", true},
		{"no directory", func(*testing.T) {}, "127.0.0.1", "started", false},
		{"cannot be written to", func(t *testing.T) {
			savedAt(t, time.Now())
			put(t, "state/state.json.new/x", "") // in the way, for root too
		}, "127.0.0.2", "state is not kept", false},
		{"a lock that is none", func(t *testing.T) {
			savedAt(t, time.Now())
			put(t, "state/state.lock/x", "")
		}, "127.0.0.2", "saved state used", false},
		{"a file in its place", func(t *testing.T) { put(t, "state", "") }, "127.0.0.1", "state is not kept", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			dirWith(t, stateText, pair)
			row.prepare(t)
			a, logs := launchHere(t)
			if got := query(t, a, "www.example.com"); got != row.answer {
				t.Errorf("answered %s, want %s", got, row.answer)
			}
			if logs.FilterMessage(row.event).Len() != 1 {
				t.Errorf("no %q in %v", row.event, logs.All())
			}
			if _, err := os.Lstat("state/state.json.damaged"); (err == nil) != row.aside {
				t.Errorf("set aside: %v", err)
			}
		})
	}
}

// Changes are written after a moment, and once more at the end.
func TestStateIsWritten(t *testing.T) {
	dirWith(t, "state_dir: state\n", header+pairs)
	a, _ := launchHere(t)
	eventually(t, "the file", func() bool {
		text, err := os.ReadFile("state/state.json")
		return err == nil && len(text) > 0
	})
	if err := os.Remove("state/state.json"); err != nil {
		t.Fatal(err)
	}
	stopApp(t, a)
	text, err := os.ReadFile("state/state.json")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(text), `{"version":1,"saved":"`, wwwSave, `"answer":["127.0.0.1"]`, `"previous":["127.0.0.1"]`)
}

// A second server in the same directory serves without keeping anything.
func TestStateShared(t *testing.T) {
	dirWith(t, "state_dir: state\n", header+pairs)
	launchHere(t)
	put(t, "gslbd.yaml", "listen: [ \"127.0.0.1:0\" ]\nzones: [ { name: example.com, file: a.zone } ]\nstate_dir: state\nadmin: { socket: two.sock }\n")
	second, logs := launchHere(t)
	if got := query(t, second, "www.example.com"); got != "127.0.0.1" {
		t.Errorf("answered %s", got)
	}
	entries := logs.FilterMessage("state is not kept").All()
	if len(entries) != 1 || entries[0].ContextMap()["error"] != "another gslbd keeps its state there" ||
		entries[0].ContextMap()["hint"] != "state_dir must be another directory for each gslbd; without it nothing is kept over a restart" {
		t.Errorf("log %v", logs.All())
	}
}

// What is published before anything is bound is the saved answer already.
func TestStateBeforeBinding(t *testing.T) {
	const pair = header + "www A 127.0.0.1 ; @primary check=far\nwww A 127.0.0.2 ; @secondary check=far\n"
	cfg := configured(t, stateText, pair)
	savedAt(t, time.Now())
	a, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stopApp(t, a)
	a.openState()
	a.publishFirst()
	reply, err := ask(a.cur, question{name: "www.example.com.", qtype: dns.TypeA, client: netip.MustParseAddr("127.0.0.1")})
	if err != nil || len(reply.Answer) != 1 || reply.Answer[0].(*dns.A).A.String() != "127.0.0.2" {
		t.Errorf("%v, %v", reply, err)
	}
}
