package main_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gslbd/cmd/internal/admin"
	"gslbd/cmd/internal/cli"
)

// These tests start the real program, which is this test binary called with
// beProgram set, and ask it with the real dig.
const beProgram = "BE_GSLBD"

// patience is how long a test waits for what must happen soon.
const patience = 15 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(beProgram) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil { // they mostly wait
		panic(err)
	}
	os.Exit(m.Run())
}

// program makes the command that runs gslbd in dir.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), beProgram+"=1", "GORACE=atexit_sleep_ms=10") // not a second for each command
	return cmd
}

// result is what a command left behind.
type result struct {
	stdout, stderr string
	code           int
}

// run runs gslbd in dir to its end.
func run(t *testing.T, dir string, args ...string) result {
	t.Helper()
	return finish(t, program(t, dir, args...))
}

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// shortDir makes a directory whose name leaves room for a socket's.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gslbd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// site makes a directory with a configuration and the zone gslb.example.com.
// checks and what follows them are the body of the configuration.
func site(t *testing.T, config, records string) string {
	t.Helper()
	dir := shortDir(t)
	if !strings.Contains(config, "listen:") {
		config = "listen: [ \"127.0.0.1:0\" ]\n" + config
	}
	write(t, filepath.Join(dir, "gslbd.yaml"), config+"\nzones: [ { name: gslb.example.com, file: gslb.zone } ]\n")
	write(t, filepath.Join(dir, "gslb.zone"), zoneText(1, records))
	return dir
}

// zoneText is a zone of the given serial with further records.
func zoneText(serial int, records string) string {
	if !strings.Contains("\n"+records, "\nns1 ") {
		records += "\nns1 A 127.0.0.53"
	}
	return fmt.Sprintf("$ORIGIN gslb.example.com.\n$TTL 60\n@ SOA ns1 hostmaster %d 3600 600 604800 60\n@ NS ns1\n%s\n", serial, records)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// daemon is a running gslbd.
type daemon struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	log  journal
	addr netip.AddrPort
	done chan struct{} // closed when the process has ended
	code int
	wrap []string // put before dig and the like, as in nsenter
}

// journal collects a process's standard error.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// serve starts gslbd in dir and waits until it answers. It is stopped, and
// must then exit with 0, when the test ends.
func serve(t *testing.T, dir string) *daemon {
	t.Helper()
	return started(t, dir, program(t, dir, "serve"))
}

func started(t *testing.T, dir string, cmd *exec.Cmd) *daemon {
	t.Helper()
	s := &daemon{t: t, dir: dir, cmd: cmd, done: make(chan struct{})}
	cmd.Stderr = &s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		cmd.Wait()
		s.code = cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.log.String())
		}
		s.stop(syscall.SIGTERM)
	})
	waitFor(t, "the server to start", func() error {
		select {
		case <-s.done:
			t.Fatalf("the server ended with %d:\n%s", s.code, s.log.String())
		default:
		}
		found := regexp.MustCompile(`"event":"started".*"addresses":\["([^"]*)"`).FindStringSubmatch(s.log.String())
		if found == nil {
			return errors.New("no such line in its log")
		}
		s.addr = netip.MustParseAddrPort(found[1])
		return nil
	})
	return s
}

// stop ends the server with a signal; it must exit with 0 within 5 s.
func (s *daemon) stop(sig syscall.Signal) {
	s.t.Helper()
	select {
	case <-s.done:
		return
	default:
	}
	s.signal(sig)
	select {
	case <-s.done:
	case <-time.After(5 * time.Second):
		s.t.Error("the server did not stop within 5 s")
		s.cmd.Process.Kill()
		<-s.done
	}
	if s.code != 0 {
		s.t.Errorf("the server ended with %d:\n%s", s.code, s.log.String())
	}
}

func (s *daemon) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Errorf("signal %v: %v", sig, err)
	}
}

// reply is what dig printed.
type reply struct {
	rcode   string
	answers []string // data, sorted
}

func (r reply) String() string { return r.rcode + " " + strings.Join(r.answers, " ") }

// dig asks the server, over UDP unless args say otherwise.
func (s *daemon) dig(args ...string) reply {
	s.t.Helper()
	args = append([]string{"dig", "@" + s.addr.Addr().String(), "-p", fmt.Sprint(s.addr.Port()),
		"+tries=1", "+time=3", "+norec", "+noall", "+comments", "+answer"}, args...)
	args = append(slices.Clone(s.wrap), args...)
	out, err := exec.Command(needs(s.t, args[0]), args[1:]...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	var r reply
	for line := range strings.Lines(string(out)) {
		if _, after, ok := strings.Cut(line, "status: "); ok {
			r.rcode, _, _ = strings.Cut(after, ",")
		}
		if fields := strings.Fields(line); len(fields) > 4 && !strings.HasPrefix(line, ";") {
			r.answers = append(r.answers, strings.Join(fields[4:], " "))
		}
	}
	slices.Sort(r.answers)
	return r
}

// needs finds a tool, or skips the test.
func needs(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		skip(t, "no %s: %v", tool, err)
	}
	return path
}

// skip gives up a test for want of something; CI must have everything.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// expect waits until dig gives the answer "RCODE DATA...".
func (s *daemon) expect(want, name, qtype string) {
	s.t.Helper()
	waitFor(s.t, name+" "+qtype+" to give "+want, func() error {
		if got := s.dig(name, qtype).String(); strings.TrimSpace(got) != want {
			return errors.New("got " + got)
		}
		return nil
	})
}

// client talks to the server's admin socket, as the commands do.
func (s *daemon) client() *admin.Client {
	return admin.NewClient(filepath.Join(s.dir, "gslbd.sock"))
}

// status is the document of `gslbd status --json NAME`.
func (s *daemon) status(name string) admin.Status {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	status, err := s.client().Status(ctx, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

// expectStatus waits until status tells "STATE POOL: REASON" of a group.
func (s *daemon) expectStatus(want, group string) {
	s.t.Helper()
	waitFor(s.t, "status of "+group+" to be "+want, func() error {
		g := s.status(group).Groups[0]
		if got := fmt.Sprintf("%s %s: %s", g.State, g.Pool, g.Reason); got != want {
			return errors.New("got " + got)
		}
		return nil
	})
}

// expectLog waits until the log holds the text.
func (s *daemon) expectLog(text string) {
	s.t.Helper()
	waitFor(s.t, "the log to hold "+text, func() error {
		if !strings.Contains(s.log.String(), text) {
			return errors.New("it does not")
		}
		return nil
	})
}

// waitFor asks again and again until there is no error.
func waitFor(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("waited %v for %s: %v", patience, what, err)
		case <-tick.C:
		}
	}
}

// freePort gives a port on which nothing listens. It lies below those that the
// kernel hands out, so that no other test gets it in the meantime by chance.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 15000 + rand.IntN(15000)
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		tcp, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		udp, err := net.ListenPacket("udp", addr)
		tcp.Close()
		if err == nil {
			udp.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
