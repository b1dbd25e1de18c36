package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"gslbd/cmd/internal/config"
	"gslbd/zone"
)

// TestTimes: the formulas that cloud providers publish, and the worst of
// several checks and members.
func TestTimes(t *testing.T) {
	cfg := configured(t, checksText+`  quick: { order: [ primary ] }
`, header+`
web  A 127.0.0.1 ; @primary check=web
fast A 127.0.0.1 ; @primary check=fast
both A 127.0.0.1 ; @primary check=fast,web
both A 127.0.0.2 ; @secondary check=slow
none A 127.0.0.1 ; @primary check=none
ping A 127.0.0.1 ; @primary check=ping
`)
	want := []string{
		// 3×5 + 2×10; 2×10; 10 + 35 + 60
		"web/A failover 35 20 105",
		// 3×3 + 2×2 = 13; 2×2; 2 + 13 + 60
		"fast/A failover 13 4 75",
		// web detects slowest; slow recovers slowest, 2×20; slow: 20 + 2×3 + 20 = 46, web: 10 + 35 = 45
		"both/A failover 35 40 106",
		"none/A failover 0 0 60",
		// defaults: 2×5 + 10; 2×10; 10 + 20 + 60
		"ping/A failover 20 20 90",
	}
	report := Check(cfg, nil, true)
	var got []string
	for _, g := range report.Groups {
		got = append(got, fmt.Sprintf("%s/%s %s %v %v %v", g.Name[:4], g.Type, g.Policy, g.DetectSeconds, g.RecoverSeconds, g.ClientSeconds))
	}
	for i := range want {
		if i == 0 {
			got[i] = "web" + got[i][4:]
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !report.OK || len(report.Problems) != 0 {
		t.Errorf("problems: %v", report.Problems)
	}
}

// TestProbesPerMinute: equal probes count once, at the smallest interval.
func TestProbesPerMinute(t *testing.T) {
	cfg := configured(t, checksText, header+`
a A 127.0.0.1 ; @primary check=fast
b A 127.0.0.1 ; @primary check=slow
c A 127.0.0.1 ; @primary check=slow,fast
d A 127.0.0.1 ; @primary check=fast target=:81
e A 127.0.0.2 ; @primary check=ping,web
f A 127.0.0.2 ; @primary check=web
g AAAA ::1    ; @primary check=fast
`)
	var got []string
	for _, target := range Check(cfg, nil, false).Targets {
		got = append(got, fmt.Sprint(target))
	}
	want := []string{
		"{127.0.0.1:80 30 [fast slow]}",
		"{127.0.0.1:81 30 [fast]}",
		"{127.0.0.2 6 [ping]}",
		"{127.0.0.2:8080 12 [web]}", // two names, two Host headers
		"{[::1]:80 30 [fast]}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestReportDocument(t *testing.T) {
	cfg := configured(t, checksText, header+pairs)
	doc, err := json.Marshal(Check(cfg, nil, false))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"ok":true,"zones":[{"name":"example.com","file":"a.zone","serial":1,"records":5,"groups":1}],` +
		`"groups":[{"name":"www.example.com","type":"A","policy":"failover","detect_seconds":0,"recover_seconds":0,"client_seconds":60}],"problems":[]}`
	if string(doc) != want {
		t.Errorf("got  %s\nwant %s", doc, want)
	}
	doc, err = json.Marshal(Check(nil, zone.Problems{{File: "f", Line: 2, Severity: zone.Error, Message: "m", Hint: "h"}}, false))
	if err != nil {
		t.Fatal(err)
	}
	want = `{"ok":false,"zones":[],"groups":[],"problems":[{"file":"f","line":2,"severity":"error","message":"m","hint":"h"}]}`
	if string(doc) != want {
		t.Errorf("got  %s\nwant %s", doc, want)
	}
}

// TestReportProblems: warnings count under strict only; a broken zone does not
// hide a good one, nor the listen addresses.
func TestReportProblems(t *testing.T) {
	cfg := configured(t, checksText, header+"two A 127.0.0.1\ntwo A 127.0.0.2\n")
	if r := Check(cfg, nil, false); !r.OK || len(r.Problems) != 1 || r.Problems[0].Severity != zone.Warning {
		t.Errorf("got %+v", r)
	}
	if r := Check(cfg, nil, true); r.OK {
		t.Error("strict takes a warning")
	}
	put(t, "b.zone", "@ A\n")
	bad := *cfg
	bad.Zones = append([]zone.Source{{Name: "b.example", File: "b.zone"}}, cfg.Zones...)
	bad.Listen = []string{"here"}
	r := Check(&bad, nil, false)
	if r.OK || len(r.Zones) != 1 || r.Zones[0].Name != "example.com" {
		t.Errorf("got %+v", r)
	}
	contains(t, r.Problems.Error(), `gslbd.yaml:1: listen "here": `, "b.zone:1: ", "a.zone:6: warning: ")
}

func TestCheckListen(t *testing.T) {
	ok := &config.Config{File: "f", Listen: []string{"127.0.0.1:53", "[::1]:53"}}
	if problems := checkListen(ok); problems != nil {
		t.Errorf("got %v", problems)
	}
	p := checkListen(&config.Config{File: "f"})
	if len(p) != 1 || p[0].File != "f" || p[0].Hint == "" || p[0].Message != "listen: no address to listen on" {
		t.Errorf("got %+v", p)
	}
}
