package app

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gslbd/cmd/internal/config"
	"gslbd/zone"
)

func TestReload(t *testing.T) {
	a, logs := launch(t, checksText+"watch: false\n", header+pairs)
	before, err := a.Status("")
	if err != nil {
		t.Fatal(err)
	}
	put(t, "a.zone", strings.Replace(header, " 1 3600", " 7 3600", 1)+pairs+"new A 127.0.0.3\n")
	if problems := a.Reload(t.Context(), false); len(problems) != 0 {
		t.Fatalf("got %v", problems)
	}
	if got := query(t, a, "new.example.com"); got != "127.0.0.3" {
		t.Errorf("got %s", got)
	}
	after, err := a.Status("")
	if err != nil {
		t.Fatal(err)
	}
	if after.Zones[0].Serial != 7 || !after.Zones[0].Loaded.After(before.Zones[0].Loaded) || !after.Groups[0].Since.Equal(before.Groups[0].Since) {
		t.Errorf("got %+v, before %+v", after, before)
	}
	if got := a.Serials(); len(got) != 1 || got["example.com"] != 7 {
		t.Errorf("serials are %v", got)
	}
	if logs.FilterMessage("reloaded").Len() != 1 {
		t.Error("not logged")
	}
}

func TestReloadRefused(t *testing.T) {
	a, _ := launch(t, checksText+"watch: false\n", header+pairs)
	config := "listen: [ \"127.0.0.1:0\" ]\nzones: [ { name: example.com, file: a.zone } ]\nwatch: false\n"
	tests := []struct {
		name, file, text string
		accept           bool
		messages         []string
	}{
		{"broken zone", "a.zone", header + "x A\ny A\n", true, []string{"a.zone:6: ", "a.zone:7: "}},
		{"empty zone", "a.zone", "", true, []string{"a.zone: file is empty"}},
		{"lost annotations", "a.zone", header + "www A 127.0.0.1\nwww A 127.0.0.2\n", false, []string{"a.zone:6: www.example.com/A was steered"}},
		{"broken configuration", "gslbd.yaml", config + "wtach: true\n", true, []string{`gslbd.yaml:4: wtach: unknown key`}},
		{"check that is used no more there", "gslbd.yaml", config + "policies: { failover: { check: web } }\n", true, []string{"gslbd.yaml:"}},
		{"second zone broken", "gslbd.yaml", strings.Replace(config, "a.zone } ]", "a.zone }, { name: b.example, file: b.zone } ]", 1), true, []string{"b.zone: "}},
		{"bad listen", "gslbd.yaml", strings.Replace(config, "127.0.0.1:0", "127.0.0.1:99999", 1), true, []string{"99999"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			put(t, tt.file, tt.text)
			problems := a.Reload(t.Context(), tt.accept)
			if !problems.Failed(false) {
				t.Fatalf("reloaded: %v", problems)
			}
			contains(t, problems.Error(), tt.messages...)
			if got := query(t, a, "www.example.com"); got != "127.0.0.1" {
				t.Errorf("got %s", got)
			}
		})
		put(t, "a.zone", header+pairs)
		put(t, "gslbd.yaml", config)
	}
	if s, err := a.Status(""); err != nil || s.Zones[0].Problem == "" {
		t.Errorf("status says nothing of the refusals: %+v, %v", s.Zones, err)
	}
	put(t, "a.zone", header+"www A 127.0.0.1\nwww A 127.0.0.2\n")
	problems := a.Reload(t.Context(), true)
	if problems.Failed(false) || len(problems) != 1 || problems[0].Severity != zone.Warning {
		t.Errorf("accepting: %v", problems)
	}
	if s, err := a.Status(""); err != nil || s.Zones[0].Problem != "" || len(s.Groups) != 0 {
		t.Errorf("status: %+v, %v", s, err)
	}
}

// TestReloadFixed: each setting that is read at the start only gives a warning
// with its line, at every reload until it is set back.
func TestReloadFixed(t *testing.T) {
	a, _ := launch(t, "watch: false\n", header+pairs)
	put(t, "gslbd.yaml", `
listen: [ "127.0.0.1:0" ]
zones: [ { name: example.com, file: a.zone } ]
watch: false
admin: { socket: other.sock }
health: { max_in_flight: 7 }
udp: { workers: 7 }
`)
	for range 2 {
		problems := a.Reload(t.Context(), false)
		if problems.Failed(false) || len(problems) != 3 {
			t.Errorf("got %v", problems)
		}
		contains(t, problems.Error(), "gslbd.yaml:7: warning: udp.workers changed: takes effect at a restart", "admin.socket changed", "health.max_in_flight changed")
	}
	put(t, "gslbd.yaml", "listen: [ \"127.0.0.1:0\" ]\nzones: [ { name: example.com, file: a.zone } ]\nwatch: false\n")
	if problems := a.Reload(t.Context(), false); len(problems) != 0 {
		t.Errorf("set back: %v", problems)
	}
}

// TestReloadListen: addresses come and go with a reload, and one that cannot be
// bound refuses all of it.
func TestReloadListen(t *testing.T) {
	a, logs := launch(t, "watch: false\n", header+pairs)
	const rest = "zones: [ { name: example.com, file: a.zone } ]\nwatch: false\n"
	first := a.Addrs()[0]
	put(t, "gslbd.yaml", "listen: [ \"127.0.0.2:0\", \"127.0.0.1:0\" ]\n"+rest)
	if problems := a.Reload(t.Context(), false); len(problems) != 0 {
		t.Fatalf("got %v", problems)
	}
	got := a.Addrs()
	if len(got) != 2 || got[1] != first || got[0].Addr().String() != "127.0.0.2" {
		t.Fatalf("got %v, before %v", got, first)
	}
	if answer := query(t, a, "www.example.com"); answer != "127.0.0.1" {
		t.Errorf("%v answers %s", got[0], answer)
	}
	put(t, "a.zone", strings.Replace(header, " 1 3600", " 7 3600", 1)+pairs+"new A 127.0.0.3\n")
	put(t, "gslbd.yaml", "watch: false\nlisten:\n  - 127.0.0.3:0\n  - 192.0.2.1:53\n"+strings.Replace(rest, "watch: false\n", "", 1))
	problems := a.Reload(t.Context(), false)
	want := "gslbd.yaml:2: listen tcp \"192.0.2.1:53\": cannot assign requested address\n  hint: this machine does not have the address (`ip address` lists those it has); correct it, or add it to an interface first"
	if !problems.Failed(false) || problems.Error() != want {
		t.Errorf("got  %v\nwant %s", problems, want)
	}
	if now := a.Addrs(); !slices.Equal(now, got) {
		t.Errorf("got %v, before %v", now, got)
	}
	if answer, serial := query(t, a, "new.example.com"), a.Serials()["example.com"]; answer == "127.0.0.3" || serial != 1 {
		t.Errorf("refused, and yet answers %s from serial %d", answer, serial)
	}
	if logs.FilterMessage("reload refused: what was served before is served on").Len() != 1 {
		t.Error("not logged")
	}
	put(t, "gslbd.yaml", "listen: [ \"127.0.0.1:0\" ]\n"+rest)
	if problems := a.Reload(t.Context(), false); len(problems) != 0 {
		t.Fatalf("got %v", problems)
	}
	if now := a.Addrs(); len(now) != 1 || now[0] != first {
		t.Errorf("got %v, want %v", now, first)
	}
	if answer := query(t, a, "new.example.com"); answer != "127.0.0.3" {
		t.Errorf("got %s", answer)
	}
}

// TestReloadAddsAndRemovesZones under queries for a zone that stays.
func TestReloadZones(t *testing.T) {
	a, _ := launch(t, "watch: false\n", header+pairs)
	put(t, "b.zone", "@ 60 SOA ns host 1 1 1 1 1\n@ 60 NS ns\nns 60 A 127.0.0.1\nw 60 A 127.0.0.9 ; @primary check=none\n")
	both := "zones: [ { name: example.com, file: a.zone }, { name: B.Example., file: b.zone } ]\nwatch: false\nlisten: \"127.0.0.1:0\"\n"
	put(t, "gslbd.yaml", both)
	if problems := a.Reload(t.Context(), false); len(problems) != 0 {
		t.Fatal(problems)
	}
	if got := query(t, a, "w.b.example"); got != "127.0.0.9" {
		t.Errorf("got %s", got)
	}
	put(t, "gslbd.yaml", strings.Replace(both, "{ name: example.com, file: a.zone }, ", "", 1))
	if problems := a.Reload(t.Context(), false); len(problems) != 0 {
		t.Fatal(problems)
	}
	if got := query(t, a, "www.example.com"); got == "127.0.0.1" {
		t.Error("a removed zone is still served")
	}
	if s, err := a.Status(""); err != nil || len(s.Zones) != 1 || s.Zones[0].Name != "b.example" || len(s.Groups) != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestReloadsInARow: many at once, each of them whole.
func TestReloadsInARow(t *testing.T) {
	a, logs := launch(t, "", header+pairs)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if problems := a.Reload(context.Background(), false); len(problems) != 0 {
				t.Error(problems)
			}
		})
	}
	all.Wait()
	if got := logs.FilterMessage("reloaded").Len(); got != 8 {
		t.Errorf("%d reloads", got)
	}
}

func TestReloadGivenUp(t *testing.T) {
	a, _ := launch(t, "", header+pairs)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if problems := a.Reload(ctx, false); !problems.Failed(false) {
		t.Error("reloaded for nobody")
	}
	ctx, cancel = context.WithCancel(t.Context())
	a.opts.Reopen = func() (*config.Config, zone.Problems) { cancel(); return config.Load("gslbd.yaml") }
	if problems := a.Reload(ctx, false); !problems.Failed(false) || !strings.Contains(problems.Error(), "cut short") {
		t.Errorf("got %v", problems)
	}
}

func TestReloadWithoutReopen(t *testing.T) {
	cfg := configured(t, "", header+pairs)
	a, err := New(cfg, Options{Quiet: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	defer stopApp(t, a)
	put(t, "gslbd.yaml", "broken")
	if problems := a.Reload(t.Context(), false); len(problems) != 0 {
		t.Error(problems)
	}
}

func TestSummary(t *testing.T) {
	fault := func(line int, severity zone.Severity) zone.Problem {
		return zone.Problem{File: "f", Line: line, Severity: severity, Message: "m"}
	}
	tests := []struct {
		problems zone.Problems
		want     string
	}{
		{nil, ""},
		{zone.Problems{fault(1, zone.Warning)}, ""},
		{zone.Problems{fault(1, zone.Warning), fault(2, zone.Error)}, "f:2: m"},
		{zone.Problems{fault(2, zone.Error), fault(3, zone.Error), fault(4, zone.Error)}, "f:2: m (and 2 more)"},
	}
	for _, tt := range tests {
		if got := summary(tt.problems); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
