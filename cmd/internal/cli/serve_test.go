package cli

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// stream is a buffer that may be read while it is written.
type stream struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await polls until the stream holds the text.
func (s *stream) await(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(s.String(), text) {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s in\n%s", text, s)
		case <-tick.C:
		}
	}
}

// TestServe: signals reload and end the server, whose log goes to standard
// error as JSON and tells the story.
func TestServe(t *testing.T) {
	inSite(t)
	var stdout bytes.Buffer
	var stderr stream
	code := make(chan int, 1)
	go func() { code <- Main([]string{"serve"}, strings.NewReader(""), &stdout, &stderr, nil) }()
	stderr.await(t, `"event":"started"`)
	for _, want := range []string{`"zones":1`, `"records":7`, `"groups":1`, `"checks":1`, `"addresses":["127.0.0.1:`, `"socket":"gslbd.sock"`} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%s is missing in\n%s", want, &stderr)
		}
	}
	raise(t, syscall.SIGHUP)
	stderr.await(t, `"event":"reloaded"`)
	put(t, "example.zone", "broken")
	raise(t, syscall.SIGHUP)
	stderr.await(t, `"event":"reload refused: what was served before is served on"`)
	if out, _, status := call(nil, "explain", "--live", "old.example.com"); status != 0 || !strings.Contains(out, "NOERROR 127.0.0.1") {
		t.Errorf("after a broken reload: %d %s", status, out)
	}
	raise(t, syscall.SIGTERM)
	if got := <-code; got != 0 {
		t.Errorf("exit status %d", got)
	}
	stderr.await(t, `"event":"stopped"`)
	if stdout.Len() > 0 {
		t.Errorf("standard output: %s", &stdout)
	}
}

// While it serves, one thread more may run, and the ballast is there.
func TestServeIsTuned(t *testing.T) {
	inSite(t)
	for _, name := range []string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT"} {
		t.Setenv(name, "")
	}
	threads := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(threads) })
	var before, during runtime.MemStats
	runtime.GC() // the ballast of an earlier server
	runtime.ReadMemStats(&before)
	var stderr stream
	code := make(chan int, 1)
	go func() { code <- Main([]string{"serve"}, strings.NewReader(""), new(bytes.Buffer), &stderr, nil) }()
	stderr.await(t, `"event":"started"`)
	runtime.GC() // which the ballast outlives
	runtime.ReadMemStats(&during)
	if now := runtime.GOMAXPROCS(0); now != threads+1 {
		t.Errorf("%d threads, %d before", now, threads)
	}
	if grown := int64(during.HeapInuse - before.HeapInuse); grown < 30<<20 {
		t.Errorf("memory in use grew by %d bytes", grown)
	}
	raise(t, syscall.SIGTERM)
	if got := <-code; got != 0 {
		t.Errorf("exit status %d", got)
	}
}

func raise(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}

// TestFlags: every command has the flags that are documented, and no others.
func TestFlags(t *testing.T) {
	want := map[string]string{
		"check":   "json strict",
		"events":  "follow json socket",
		"explain": "client down json live socket up",
		"probe":   "json name",
		"reload":  "accept-unsteered socket",
		"serve":   "",
		"status":  "json socket",
		"version": "",
	}
	s := &shell{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
	root := s.root()
	for _, cmd := range root.Commands() {
		name := cmd.Name()
		flags := cmd.LocalNonPersistentFlags().FlagUsages()
		var got []string
		for word := range strings.FieldsSeq(flags) {
			if flag, ok := strings.CutPrefix(word, "--"); ok {
				got = append(got, flag)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want[name] {
			t.Errorf("%s has flags %v, want %s", name, got, want[name])
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s is described as %q", name, cmd.Short)
		}
		if cmd.InheritedFlags().Lookup("config") == nil {
			t.Errorf("%s has no --config", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("missing commands: %v", want)
	}
}

// TestWarnings: what is odd is told on standard error and stops nothing.
func TestWarnings(t *testing.T) {
	running(t)
	for _, args := range []string{"reload", "check"} {
		stdout, stderr, code := call(nil, args)
		if code != 0 || !strings.Contains(stdout+stderr, "example.zone:7: warning: ") {
			t.Errorf("%s: got %d %s%s", args, code, stdout, stderr)
		}
	}
}

// load-zone is what a server runs: by the program that runs now, named nowhere,
// and with a word for somebody who tries it.
func TestLoadZone(t *testing.T) {
	command := (&shell{}).loader()
	if len(command) != 2 || command[1] != "load-zone" {
		t.Fatalf("%q", command)
	}
	running, err := os.Stat(command[0])
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if tested, err := os.Stat(self); err != nil || !os.SameFile(running, tested) {
		t.Errorf("%s is not %s: %v", command[0], self, err)
	}
	for _, args := range []string{"--help", "help", "__complete load"} {
		if stdout, stderr, _ := call(nil, strings.Fields(args)...); strings.Contains(stdout+stderr, "load-zone") {
			t.Errorf("%s names it:\n%s%s", args, stdout, stderr)
		}
	}
	var stdout, stderr bytes.Buffer
	code := Main([]string{"load-zone", "often"}, strings.NewReader("hello"), &stdout, &stderr, nil)
	if code != 1 || stdout.Len() > 0 || stderr.String() != "gslbd: WHEN is idle or nice\n" {
		t.Errorf("got %d, %q, %q", code, stdout.String(), stderr.String())
	}
	for args, want := range map[string]string{
		"load-zone":                  "WHEN is missing",
		"load-zone idle example.com": "takes no such argument",
	} {
		if _, stderr, code := call(nil, strings.Fields(args)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: got %d, %q", args, code, stderr)
		}
	}
}

// TestLoadZoneByHand: at a terminal it says whose it is, and does not wait for an
// order that only end of file or SIGKILL would end.
func TestLoadZoneByHand(t *testing.T) {
	device, err := os.Open(os.DevNull) // a character device, as terminals are
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	var stdout, stderr bytes.Buffer
	code := Main([]string{"load-zone", "idle"}, device, &stdout, &stderr, nil)
	if code != 1 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "gslbd: load-zone is run by the server") {
		t.Errorf("got %d, %q, %q", code, stdout.String(), stderr.String())
	}
}
