package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets this binary play the backend, as the real one does.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "backend" {
		exit(backend(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

func TestPlanOfTheExample(t *testing.T) {
	got, err := readPlan(".")
	if err != nil {
		t.Fatal(err)
	}
	want := plan{
		listen: "127.0.0.1:5300",
		name:   "www.gslb.example.com",
		backends: []server{
			{name: "tokyo", addr: "127.0.0.1:8081"},
			{name: "osaka", addr: "127.0.0.1:8082"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := got.dig(), "dig @127.0.0.1 -p 5300 www.gslb.example.com"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlanOfOtherFiles(t *testing.T) {
	const listen = "listen: [ \"127.0.0.1:1\" ]\n"
	cases := []struct{ name, config, zone, want string }{
		{"no listen", "zones: []\n", "www A 192.0.2.1 ; @primary target=127.0.0.1:2 id=a\n", "no listen address"},
		{"no target", listen, "www A 192.0.2.1 ; @primary id=a\n", "no listen address in gslbd.yaml, or no target="},
		{"no configuration", "", "www A 192.0.2.1\n", "gslbd.yaml"},
		{"no zone file", listen, "", "gslb.example.com.zone"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"gslbd.yaml": c.config, "gslb.example.com.zone": c.zone} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := readPlan(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestShown(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(filepath.Dir(here), "elsewhere", "gslbd")
	for path, want := range map[string]string{
		filepath.Join(here, "gslbd"):           filepath.FromSlash("./gslbd"),
		filepath.Join(here, "a", "gslbd.yaml"): filepath.FromSlash("a/gslbd.yaml"),
		elsewhere:                              elsewhere,
	} {
		if got := shown(path); got != want {
			t.Errorf("shown(%q) = %q, want %q", path, got, want)
		}
	}
}

// TestPrepareFindsTheExample: without -dir it is found from anywhere in the
// module; outside, the message says where to run it.
func TestPrepareFindsTheExample(t *testing.T) {
	dir, program, err := prepare(t.Context(), "", "p")
	if err != nil || program != "p" || filepath.Base(dir) != "quickstart" {
		t.Fatalf("got %q %q %v", dir, program, err)
	}
	if _, err := readPlan(dir); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if _, _, err := prepare(t.Context(), "", "p"); err == nil || !strings.Contains(err.Error(), "inside the repository") {
		t.Errorf("got %v, want an error that says where to run it", err)
	}
}

// TestPrepareStops: a build does not hold up Ctrl-C, and that is no failure.
func TestPrepareStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := prepare(ctx, "", ""); err == nil {
		t.Error("prepare went on after its context was done")
	}
	if err := run(ctx, "", ""); err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestPrepareKeepsWhatIsGiven(t *testing.T) {
	dir, program, err := prepare(t.Context(), "d", "p")
	if dir != "d" || program != "p" || err != nil {
		t.Errorf("got %q %q %v", dir, program, err)
	}
}

// freeAddr gives an address that nothing listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestBackendAnswersUntilStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	addr := freeAddr(t)
	if err := (server{name: "tokyo", addr: addr}).start(ctx, &running); err != nil {
		t.Fatal(err)
	}
	client := http.Client{Timeout: 5 * time.Second}
	reply, err := client.Get("http://" + addr + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if reply.StatusCode != http.StatusOK || string(text) != "tokyo answers /healthz\n" || err != nil {
		t.Errorf("got %d %q %v", reply.StatusCode, text, err)
	}
	stop()
	running.Wait()
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("the backend still listens after the stop")
	}
}

func TestBackendWithoutItsPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var running sync.WaitGroup
	s := server{name: "tokyo", addr: taken.Addr().String()}
	if err := s.start(t.Context(), &running); err == nil || err.Error() != "backend tokyo did not start" {
		t.Errorf("got %v", err)
	}
	running.Wait()
	err = backend(s.name, s.addr)
	if err == nil || !strings.Contains(err.Error(), s.addr) || !strings.Contains(err.Error(), "target=") {
		t.Errorf("got %v, want an error with the address and how to mend it", err)
	}
}

// write makes a folder with the example's two files for one backend.
func write(t *testing.T, addr string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"gslbd.yaml":            "listen: [ \"127.0.0.1:1\" ]\n",
		"gslb.example.com.zone": "www A 192.0.2.1 ; @primary target=" + addr + " id=tokyo\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRunStopsEverything: whichever way it ends, the backends end too.
func TestRunStopsEverything(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gslbd")
	for name, c := range map[string]struct{ script, want string }{
		"gslbd fails":     {"#!/bin/sh\nexit 3\n", "gslbd ended: exit status 3"},
		"gslbd ends well": {"#!/bin/sh\nexit 0\n", ""},
		"no gslbd":        {"", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(program)
			if c.script != "" {
				if err := os.WriteFile(program, []byte(c.script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			addr := freeAddr(t)
			err := run(t.Context(), write(t, addr), program)
			if got := strings.TrimSpace(errorText(err)); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if conn, err := net.Dial("tcp", addr); err == nil {
				conn.Close()
				t.Error("the backend still listens")
			}
		})
	}
}

func TestRunEndsWhenAsked(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gslbd")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	addr := freeAddr(t)
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			if conn, err := net.Dial("tcp", addr); err == nil {
				conn.Close()
				stop()
				return
			}
		}
	}()
	if err := run(ctx, write(t, addr), program); err != nil {
		t.Errorf("got %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestChildIsAsked: what runs is asked to stop, not killed at once, when the
// quickstart ends.
func TestChildIsAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd := child(ctx, "sh", "-c", `trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done`)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the child did not start")
	}
	cancel()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit status %d, want 7: that of its own clean-up", code)
	}
}
