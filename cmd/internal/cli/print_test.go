package cli

import (
	"bytes"
	"os"
	"testing"

	"gslbd/cmd/internal/admin"
	"gslbd/cmd/internal/app"
	"gslbd/zone"
)

// printed gives what a shell without colours prints.
func printed(print func(*shell)) string {
	var out bytes.Buffer
	print(&shell{stdout: &out})
	return out.String()
}

func TestPrintReport(t *testing.T) {
	tests := []struct {
		name   string
		report app.Report
		want   string
	}{
		{"nothing", app.Report{OK: true}, "ok: 0 errors, 0 warnings\n"},
		{"problems only", app.Report{Problems: zone.Problems{
			{File: "gslbd.yaml", Line: 3, Severity: zone.Error, Message: "unknown key", Hint: "leave it out"},
			{File: "a.zone", Severity: zone.Warning, Message: "odd"},
			{File: "a.zone", Line: 9, Severity: zone.Warning, Message: "odd"},
		}}, "gslbd.yaml:3: unknown key\n  hint: leave it out\na.zone: warning: odd\na.zone:9: warning: odd\n\nnot ok: 1 error, 2 warnings\n"},
		{"everything", app.Report{
			OK:    true,
			Zones: []app.ZoneReport{{Name: "example.com", File: "a.zone", Serial: 4294967295, Records: 1000000, Groups: 2}},
			Groups: []app.GroupReport{
				{Name: "www.example.com", Type: "A", Policy: "failover", DetectSeconds: 75, RecoverSeconds: 60, ClientSeconds: 165},
				{Name: "*.example.com", Type: "AAAA", Policy: "last", DetectSeconds: 0.4, ClientSeconds: 60.5},
			},
			Targets: []app.TargetReport{
				{Address: "192.0.2.10:80", PerMinute: 6, Checks: []string{"slow", "web"}},
				{Address: "[2001:db8::1]:443", PerMinute: 0.2, Checks: []string{"web"}},
			},
		}, `ZONE         FILE    SERIAL      RECORDS  GROUPS
example.com  a.zone  4294967295  1000000  2

GROUP               POLICY    DETECT  RECOVER  CLIENT
www.example.com/A   failover  1m15s   1m0s     2m45s
*.example.com/AAAA  last      400ms   0s       1m0.5s

TARGET             PROBES/MINUTE  CHECKS
192.0.2.10:80      6              slow web
[2001:db8::1]:443  0.2            web

ok: 0 errors, 0 warnings
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := printed(func(s *shell) { s.printReport(tt.report) }); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestPrintExplanation(t *testing.T) {
	tests := []struct {
		e       admin.Explanation
		assumed string
		want    string
	}{
		{admin.Explanation{Name: "www.example.com", Type: "A", RCode: "NOERROR", Answer: []string{"192.0.2.1", "192.0.2.2"},
			Pool: "primary", Policy: "failover", Reason: "it is up", TTL: 60, Client: "127.0.0.1"}, "it all",
			"question  www.example.com A\nanswer    NOERROR 192.0.2.1 192.0.2.2\nwhy       it is up\npolicy    failover\npool      primary\nttl       60\nclient    127.0.0.1\nassumed   it all\n"},
		{admin.Explanation{Name: "nix", Type: "TXT", RCode: "REFUSED", Reason: "outside", Client: "::1"}, "",
			"question  nix TXT\nanswer    REFUSED\nwhy       outside\nttl       0\nclient    ::1\n"},
	}
	for _, tt := range tests {
		if got := printed(func(s *shell) { s.printExplanation(tt.e, tt.assumed) }); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
}

func TestAssumption(t *testing.T) {
	tests := []struct {
		q    admin.ExplainQuery
		want string
	}{
		{admin.ExplainQuery{}, "every member up (--live asks the running server)"},
		{admin.ExplainQuery{Down: []string{"tokyo", "pool:x"}, Up: []string{"osaka"}}, "every member up; down: tokyo pool:x; up: osaka (--live asks the running server)"},
		{admin.ExplainQuery{Live: true}, ""},
		{admin.ExplainQuery{Live: true, Up: []string{"osaka"}}, "the running states; up: osaka"},
	}
	for _, tt := range tests {
		if got := assumption(tt.q); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.q, got, tt.want)
		}
	}
}

func TestPrintProbe(t *testing.T) {
	report := app.ProbeReport{Check: "web", Type: "http", Target: "192.0.2.1:80", Outcome: "pass", LatencyMS: 12.345}
	want := "check web (http) against 192.0.2.1:80\npass in 12.3 ms\n"
	if got := printed(func(s *shell) { s.printProbe(report) }); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	report.Outcome, report.Reason = "fail", "status 503, want 2xx"
	report.Steps = append(report.Steps, app.ProbeStep{AtMS: 1.5, What: "connect", Info: "from 192.0.2.2"}, app.ProbeStep{AtMS: 20, What: "status", Info: "503"})
	want = "check web (http) against 192.0.2.1:80\n  1.5 ms   connect  from 192.0.2.2\n  20.0 ms  status   503\nfail: status 503, want 2xx\n"
	if got := printed(func(s *shell) { s.printProbe(report) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTerminal: colours on a terminal, and only where they are wanted.
func TestTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("no terminal: %v", err)
	}
	defer terminal.Close()
	tests := []struct {
		env  []string
		want bool
	}{
		{[]string{"TERM=xterm"}, true},
		{nil, true},
		{[]string{"TERM=dumb"}, false},
		{[]string{"TERM=xterm", "NO_COLOR=1"}, false},
		{[]string{"TERM=xterm", "NO_COLOR="}, true},
	}
	for _, tt := range tests {
		s := &shell{stdout: &results{Writer: terminal}, env: tt.env}
		if got := s.coloured(); got != tt.want {
			t.Errorf("%v: coloured is %v", tt.env, got)
		}
	}
}

func TestTally(t *testing.T) {
	group := func(state string) admin.GroupStatus { return admin.GroupStatus{State: state} }
	tests := []struct {
		groups []admin.GroupStatus
		want   string
	}{
		{nil, "0 groups"},
		{[]admin.GroupStatus{group("healthy")}, "1 group (1 healthy)"},
		{[]admin.GroupStatus{group("healthy"), group("critical"), group("healthy"), group("degraded")}, "4 groups (1 critical, 1 degraded, 2 healthy)"},
	}
	for _, tt := range tests {
		if got := tally(tt.groups); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
