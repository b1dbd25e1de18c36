// Package examples_test runs the examples as their readers would: the real
// program, the files beside it with free ports filled in, and dig.
package examples_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// bin holds the programs under test, built once.
var bin string

func TestMain(m *testing.M) {
	var err error
	if bin, err = os.MkdirTemp("", "gslbd-examples-"); err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-o", bin, "gslbd/cmd/gslbd", "gslbd/examples/quickstart")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	code := m.Run()
	os.RemoveAll(bin)
	os.Exit(code)
}

// need skips where a tool is missing, except in CI, where that is a failure.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is missing: %v", tool, err)
		}
		t.Skipf("%s is missing: %v", tool, err)
	}
}

// files copies an example's configuration and zone, with replacements made,
// and returns the new folder.
func files(t *testing.T, example string, replace ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"gslbd.yaml", "gslb.example.com.zone"} {
		text, err := os.ReadFile(filepath.Join(example, name))
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.NewReplacer(replace...).Replace(string(text)))
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// freePort gives a port that neither UDP nor TCP uses on 127.0.0.1.
func freePort(t *testing.T) string {
	t.Helper()
	for range 20 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // after the loop: not to be given the same one again
		port := l.Addr().(*net.TCPAddr).Port
		u, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err == nil {
			u.Close()
			return strconv.Itoa(port)
		}
	}
	t.Fatal("no free port")
	return ""
}

// process is a running program and what it printed so far.
type process struct {
	*exec.Cmd
	mu     sync.Mutex
	output []string
	ended  chan struct{}
}

// start runs a program in a process group of its own, all of which is gone
// when the test ends.
func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(name, args...), ended: make(chan struct{})}
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r, w := io.Pipe()
	p.Stdout, p.Stderr = w, w
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			p.mu.Lock()
			p.output = append(p.output, lines.Text())
			p.mu.Unlock()
		}
	}()
	go func() {
		p.Wait()
		w.Close()
		close(p.ended)
	}()
	t.Cleanup(func() {
		syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
		<-p.ended
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, p.text())
		}
	})
	return p
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.output, "\n")
}

// line waits for a line that holds all the words.
func (p *process) line(t *testing.T, words ...string) string {
	t.Helper()
	var found string
	eventually(t, fmt.Sprintf("a line with %q", words), func() string {
		for line := range strings.Lines(p.text()) {
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
				found = strings.TrimSpace(line)
				return ""
			}
		}
		return "none"
	})
	return found
}

// eventually polls until got returns "", and fails with what it last said.
func eventually(t *testing.T, what string, got func() string) {
	t.Helper()
	tick, end := time.NewTicker(50*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		last := got()
		if last == "" {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: %s", what, last)
		}
	}
}

// dig asks the server on a loopback port and returns the sorted data.
func dig(port, name, rrtype string) string {
	out, err := exec.Command("dig", "@127.0.0.1", "-p", port, "+short", "+time=5", "+tries=1", name, rrtype).Output()
	if err != nil {
		return err.Error()
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

// answers waits for an answer.
func answers(t *testing.T, port, name, rrtype, want string) {
	t.Helper()
	eventually(t, name+"/"+rrtype, func() string {
		if got := dig(port, name, rrtype); got != want {
			return fmt.Sprintf("answered %q, want %q", got, want)
		}
		return ""
	})
}

// gslbd runs a command and decodes the JSON that it prints.
func gslbd(t *testing.T, into any, args ...string) {
	t.Helper()
	if err := command(into, args...); err != nil {
		t.Fatal(err)
	}
}

func command(into any, args ...string) error {
	cmd := exec.Command(filepath.Join(bin, "gslbd"), args...)
	var message strings.Builder
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("gslbd %q: %w\n%s%s", args, err, out, message.String())
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("gslbd %q printed %q: %w", args, out, err)
	}
	return nil
}
