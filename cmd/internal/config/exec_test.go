package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslbd/health/probe"

	"github.com/google/go-cmp/cmp"
)

func TestCheckGRPC(t *testing.T) {
	dir := t.TempDir()
	cert := filepath.Join(dir, "ca.pem")
	keyPair(t, cert, filepath.Join(dir, "key.pem"))
	for options, want := range map[string]probe.GRPC{
		"":                            {Port: 443, TLS: true, Verify: true},
		"port: 1":                     {Port: 1, TLS: true, Verify: true},
		"service: pkg.Shop":           {Port: 443, TLS: true, Verify: true, Service: "pkg.Shop"},
		`service: ""`:                 {Port: 443, TLS: true, Verify: true},
		"tls: false, port: 50051":     {Port: 50051, Verify: true},
		"verify: false":               {Port: 443, TLS: true},
		"sni: www.example.com.":       {Port: 443, TLS: true, Verify: true, SNI: "www.example.com"},
		"tls: false, sni: a.example":  {Port: 443, Verify: true, SNI: "a.example"},
		"ca_file: " + cert:            {Port: 443, TLS: true, Verify: true, CAFile: cert},
		"service: 7, timeout: 100ms":  {Port: 443, TLS: true, Verify: true, Service: "7"},
		`service: "a b", retries: 10`: {Port: 443, TLS: true, Verify: true, Service: "a b"},
	} {
		got := loadCheck(t, "type: grpc, "+options)
		if diff := cmp.Diff(&want, got.GRPC); diff != "" || got.HTTP != nil {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
	}
	for options, want := range map[string]string{
		"tls: false, verify: true":              "verify: has no effect, since tls is false\n  hint: tls: true",
		"tls: false, ca_file: " + cert:          "ca_file: has no effect, since tls is false\n  hint: tls: true",
		"verify: false, ca_file: " + cert:       "ca_file: has no effect, since verify is false\n  hint: verify: true",
		"verify: false, sni: a, tls: true":      "",
		"tls: false, sni: www.example.com.":     "",
		"source: 192.0.2.1, service: a, sni: b": "",
	} {
		warned(t, "type: grpc, "+options, want)
	}
}

// warned loads a check and compares the warning about one of its options.
func warned(t *testing.T, options, want string) {
	t.Helper()
	c, problems := Load(write(t, oneZone+"checks:\n  c: { "+options+" }\n"))
	if want != "" {
		want = "warning: checks.c." + want
	}
	if c == nil || len(problems) > 1 || !strings.HasSuffix(problems.Error(), want) || (want == "") != (len(problems) == 0) {
		t.Errorf("%s: got %q, want %q", options, problems.Error(), want)
	}
}

func TestCheckExec(t *testing.T) {
	file := write(t, "")
	dir := filepath.Dir(file)
	program := filepath.Join(dir, "check-it")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	load := func(options string) *probe.Exec {
		t.Helper()
		if err := os.WriteFile(file, []byte(oneZone+"checks:\n  c: { type: exec, "+options+" }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := Load(file)
		if problems != nil {
			t.Fatalf("%s: %s", options, problems.Error())
		}
		return c.Checks["c"].Exec
	}
	for options, want := range map[string]probe.Exec{
		"command: sh":                                  {Command: []string{"sh"}},
		"command: [ sh ]":                              {Command: []string{"sh"}},
		"command: [ ./check-it, -v ]":                  {Command: []string{program, "-v"}},
		"command: " + program:                          {Command: []string{program}},
		`command: [ sh, -p, 80, true, "", " a  b " ]`:  {Command: []string{"sh", "-p", "80", "true", "", " a  b "}},
		`command: [ sh, "{address}:{port}", "{NAME}"]`: {Command: []string{"sh", "{address}:{port}", "{NAME}"}},
		`command: [ sh, "a,b", "awk {print}" ]`:        {Command: []string{"sh", "a,b", "awk {print}"}},
		"command: sh, env: { lc_All: C, B: 1, C: \"\"}": {Command: []string{"sh"},
			Env: [][2]string{{"lc_All", "C"}, {"B", "1"}, {"C", ""}}},
		"command: sh, max_running: 1":    {Command: []string{"sh"}, MaxRunning: 1},
		"command: sh, max_running: 1000": {Command: []string{"sh"}, MaxRunning: 1000},
	} {
		want.Dir = dir
		if want.MaxRunning == 0 {
			want.MaxRunning = 16
		}
		if diff := cmp.Diff(&want, load(options)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
	}
	t.Chdir(dir)
	c, problems := Load(filepath.Base(file))
	if problems != nil || c.Checks["c"].Exec.Dir != dir {
		t.Errorf("a relative name of the configuration: %v", problems)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for options, want := range map[string]string{
		"command: no-such-program":            "command: no-such-program cannot be run: executable file not found in $PATH\n  hint: install it, or name it with its path",
		"command: /nonexistent/x":             "command: /nonexistent/x cannot be run: no such file or directory\n  hint: install it, or name it with its path",
		"command: " + dir + "/plain":          "command: " + dir + "/plain cannot be run: permission denied\n  hint: install it, or name it with its path",
		`command: [ sh, "{adress}" ]`:         "command: {adress} is passed on as it stands\n  hint: did you mean \"address\"?",
		"command: sh, source: 192.0.2.1":      "source: has no effect, since gslbd itself does not connect\n  hint: leave it out",
		`command: [ sh, "{print}", "{name}"]`: "",
	} {
		warned(t, "type: exec, "+options, want)
	}
}

func TestCheckFile(t *testing.T) {
	file := write(t, oneZone+`checks:
  a: { type: file, path: run/states }
  b: { type: file, path: /run/states, max_age: 1m, interval: 100ms }
  c: { type: file, path: x, max_age: 0s }
  d: { type: file, path: x, max_age: 8760h }
`)
	c, problems := Load(file)
	if problems != nil {
		t.Fatal(problems.Error())
	}
	dir := filepath.Dir(file)
	for name, want := range map[string]struct {
		path   string
		maxAge time.Duration
	}{
		"a": {filepath.Join(dir, "run/states"), 0},
		"b": {"/run/states", time.Minute},
		"c": {filepath.Join(dir, "x"), 0},
		"d": {filepath.Join(dir, "x"), 8760 * time.Hour},
	} {
		if got := c.Checks[name].File; got.Path != want.path || got.MaxAge != want.maxAge {
			t.Errorf("%s: got %s, %s", name, got.Path, got.MaxAge)
		}
	}
	warned(t, "type: file, path: x, source: 192.0.2.1", "source: has no effect, since gslbd itself does not connect\n  hint: leave it out")
}

// TestLocalRanges has both ends of the ranges that need another option beside
// them, and the values just outside.
func TestLocalRanges(t *testing.T) {
	for _, row := range []struct{ options, below, low, high, above, hint string }{
		{"type: exec, command: sh, max_running", "0", "1", "1000", "1001", "1 to 1000"},
		{"type: file, path: x, max_age", "-1ns", "0s", "8760h", "8760h1s", "0s to 8760h"},
	} {
		option := row.options[strings.LastIndex(row.options, " ")+1:]
		text := func(value string) string {
			return oneZone + "checks:\n  c: { " + row.options + ": " + value + " }\n"
		}
		for _, value := range []string{row.low, row.high} {
			if got := faults(t, text(value)); got != "" {
				t.Errorf("%s: %s: got %q", option, value, got)
			}
		}
		for _, value := range []string{row.below, row.above} {
			want := "f:3: checks.c." + option + ": " + value + " is out of range\n  hint: " + row.hint
			if got := faults(t, text(value)); got != want {
				t.Errorf("%s: got %q, want %q", option, got, want)
			}
		}
	}
}

// TestDocumentedDetection has types without a port of their own take part in
// what is reckoned of all.
func TestDocumentedDetection(t *testing.T) {
	for options, want := range map[string]time.Duration{
		"type: exec, command: sh, timeout: 3s, interval: 2s, fall: 3": 13 * time.Second,
		"type: file, path: x, timeout: 1s, interval: 1s, fall: 1":     time.Second,
		"type: grpc, timeout: 5s, interval: 30s, fall: 3":             75 * time.Second,
	} {
		if got := loadCheck(t, options).Detect(); got != want {
			t.Errorf("%s: got %s, want %s", options, got, want)
		}
	}
}
