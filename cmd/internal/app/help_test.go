package app

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"gslbd/cmd/internal/config"
	"gslbd/zone"
)

// beLoader makes the test binary what a reload runs to load a zone apart.
const beLoader = "GSLBD_TEST_LOADER"

func TestMain(m *testing.M) {
	switch os.Getenv(beLoader) {
	case "":
		goleak.VerifyTestMain(m)
	case "policies":
		if err := Yield(slices.Contains(os.Args, LoadIdle)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		for range 4 { // threads that come later
			go runtime.LockOSThread()
		}
		fmt.Println(policies()...)
	default:
		_ = Yield(slices.Contains(os.Args, LoadIdle))
		if err := LoadApart(os.Stdin, os.Stdout, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// policies gives the scheduling policy and nice value of each thread of this
// process: fields 41 and 19 of proc_pid_stat(5).
func policies() (out []any) {
	stats, _ := filepath.Glob("/proc/self/task/*/stat")
	for _, stat := range stats {
		text, _ := os.ReadFile(stat)
		if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(fields) > 38 {
			out = append(out, fields[38]+"/"+fields[16])
		}
	}
	return out
}

const (
	checksText = `
checks:
  web:  { type: http, port: 8080, interval: 10s, timeout: 5s, fall: 3, rise: 3 }
  fast: { type: tcp, port: 80, interval: 2s, timeout: 3s, fall: 3, rise: 3 }
  slow: { type: tcp, port: 80, interval: 20s, timeout: 3s }
  ping: { type: icmp }
policies:
  last: { order: [ primary ], all_down: nodata }
  used: { check: [ web, fast, slow, ping ] }
`
	header = "$ORIGIN example.com.\n$TTL 60\n@ SOA ns1 host 1 3600 600 604800 30\n@ NS ns1\nns1 A 127.0.0.53\n"
	pairs  = "www A 127.0.0.1 ; @primary check=none id=tokyo\nwww A 127.0.0.2 ; @secondary check=none id=osaka\n"
)

// dirWith makes a directory with a configuration and the zone example.com, and
// makes it the working directory, so that messages are short.
func dirWith(t *testing.T, settings, zoneText string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gslbd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Chdir(dir)
	put(t, "gslbd.yaml", "listen: [ \"127.0.0.1:0\" ]\nzones: [ { name: example.com, file: a.zone } ]\n"+settings)
	put(t, "a.zone", zoneText)
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// configured loads the configuration of dirWith.
func configured(t *testing.T, settings, zoneText string) *config.Config {
	t.Helper()
	dirWith(t, settings, zoneText)
	cfg, problems := config.Load("gslbd.yaml")
	if cfg == nil {
		t.Fatal(problems)
	}
	return cfg
}

// launch starts an App on it, which is stopped with the test, and gives its log.
func launch(t *testing.T, settings, zoneText string) (*App, *observer.ObservedLogs) {
	t.Helper()
	dirWith(t, settings, zoneText)
	return launchHere(t)
}

// launchHere starts an App on what the working directory holds.
func launchHere(t *testing.T, change ...func(*Options)) (*App, *observer.ObservedLogs) {
	t.Helper()
	cfg, problems := config.Load("gslbd.yaml")
	if cfg == nil {
		t.Fatal(problems)
	}
	core, logs := observer.New(zapcore.DebugLevel)
	reopen := func() (*config.Config, zone.Problems) { return config.Load("gslbd.yaml") }
	opts := Options{Version: "v1.2.3", Log: zap.New(core), Reopen: reopen, Quiet: 20 * time.Millisecond}
	for _, f := range change {
		f(&opts)
	}
	a, err := New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopApp(t, a) })
	return a, logs
}

func stopApp(t *testing.T, a *App) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := a.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// query asks the App over its socket for the A records of a name.
func query(t *testing.T, a *App, name string) string {
	t.Helper()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, a.Addrs()[0].String())
	}}
	addrs, err := resolver.LookupHost(t.Context(), name+".")
	if err != nil {
		if e, ok := err.(*net.DNSError); ok {
			return e.Err
		}
		return err.Error()
	}
	return strings.Join(addrs, " ")
}

// eventually polls until ok, with a deadline.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// contains fails the test when text lacks a part.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}
