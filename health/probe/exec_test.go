//go:build unix

package probe

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func execCheck(timeout time.Duration, command ...string) Check {
	return Check{Name: "x", Type: "exec", Interval: 10 * time.Second, Timeout: timeout, Fall: 2, Rise: 3,
		Exec: &Exec{Command: command, MaxRunning: 16}}
}

// shellScript makes a shell script executable; it runs without a shell's help.
func shellScript(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "check")
	syscall.ForkLock.RLock() // whom another test starts meanwhile would have the file open for writing: "text file busy"
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExec(t *testing.T) {
	for _, c := range []struct {
		about, script string
		outcome       Outcome
		reason        string
	}{
		{"passes", "exit 0", Pass, ""},
		{"passes with words", "echo fine; echo warning >&2", Pass, ""},
		{"no words", "exit 1", Fail, "exit status 1"},
		{"stderr", "echo out; echo cannot resolve >&2; exit 2", Fail, "exit status 2: cannot resolve"},
		{"stdout", "echo CRITICAL - no answer; exit 2", Fail, "exit status 2: CRITICAL - no answer"},
		{"first line", "printf '\\n  \\n one \\ntwo\\n'; exit 3", Fail, "exit status 3: one"},
		{"UTF-8", "echo größer; exit 1", Fail, "exit status 1: größer"},
		{"control characters", `printf '\033[31mred'; exit 1`, Fail, `exit status 1: "\x1b[31mred"`},
		{"long line", "printf 'x%.0s' $(seq 300); exit 1", Fail, "exit status 1: " + strings.Repeat("x", 97) + "…"},
		{"much output", "yes | head -c 10000000; exit 4", Fail, "exit status 4: y"},
		{"killed by a signal", "kill -SEGV $$", Fail, "signal: segmentation fault"},
		{"no input", "read x && exit 1; exit 0", Pass, ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			got := run(t, execCheck(long, shellScript(t, c.script)), Target{Addr: local})
			got.Reason = strings.TrimSuffix(got.Reason, " (core dumped)")
			want(t, got, c.outcome, c.reason)
		})
	}
}

// The arguments arrive as they are, with values for what stands in braces.
func TestExecArguments(t *testing.T) {
	show := shellScript(t, `for a in "$@"; do printf '<%s>' "$a"; done >&2; exit 1`)
	for _, c := range []struct {
		args []string
		to   Target
		want string
	}{
		{[]string{"{address}", "{port}", "{name}"}, Target{Addr: local, Port: 8080, Name: "www.example"}, "<127.0.0.1><8080><www.example>"},
		{[]string{"-H{address}:{port}", "{address}{address}"}, Target{Addr: local, Port: 1}, "<-H127.0.0.1:1><127.0.0.1127.0.0.1>"},
		{[]string{"[{address}]"}, Target{Addr: netip.IPv6Loopback()}, "<[::1]>"},
		{[]string{"{address}"}, Target{Addr: netip.MustParseAddr("::ffff:127.0.0.1")}, "<127.0.0.1>"},
		{[]string{"{name}"}, Target{Addr: local, Name: "*.cdn.example"}, "<probe.cdn.example>"},
		{[]string{"{name}"}, Target{Addr: local}, "<127.0.0.1>"},
		{[]string{"{name}"}, Target{Addr: local, Name: "{port};$(reboot)"}, "<{port};$(reboot)>"},
		{[]string{"a b", "", "$HOME", "{other}", "*"}, Target{Addr: local}, "<a b><><$HOME><{other}><*>"},
	} {
		want(t, run(t, execCheck(long, append([]string{show}, c.args...)...), c.to), Fail, "exit status 1: "+c.want)
	}
	_, err := New(execCheck(long, show, "-p", "{port}"), Target{Addr: local}, false)
	if err == nil || err.Error() != "command uses {port}, and target 127.0.0.1 has none" {
		t.Errorf("got %v", err)
	}
	if _, err := New(execCheck(long), Target{Addr: local}, false); err == nil || err.Error() != "command is empty" {
		t.Errorf("got %v", err)
	}
}

// The environment holds PATH and what the check says, nothing of our own.
func TestExecEnvironment(t *testing.T) {
	t.Setenv("GSLBD_SECRET", "x")
	c := execCheck(long, "sh", "-c", "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort | tr '\\n' ' '; pwd >&2; exit 1")
	c.Exec.Env = [][2]string{{"LC_ALL", "C"}, {"B", "a b=c"}}
	c.Exec.Dir = "/"
	want(t, run(t, c, Target{Addr: local}), Fail, "exit status 1: /")
	c.Exec.Command[2] = strings.ReplaceAll(c.Exec.Command[2], "pwd >&2", ":")
	t.Setenv("PATH", "/usr/bin:/bin")
	want(t, run(t, c, Target{Addr: local}), Fail, "exit status 1: B=a b=c LC_ALL=C PATH=/usr/bin:/bin")
	c.Exec.Env = [][2]string{{"PATH", "/bin:/usr/bin"}}
	want(t, run(t, c, Target{Addr: local}), Fail, "exit status 1: PATH=/bin:/usr/bin")
}

// What cannot be started says nothing about the target.
func TestExecNotStarted(t *testing.T) {
	dir := t.TempDir()
	plainFile := filepath.Join(dir, "plain")
	if err := os.WriteFile(plainFile, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no program\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ program, reason string }{
		{"no-such-program", "no-such-program: executable file not found in $PATH"},
		{dir + "/none", dir + "/none: no such file or directory"},
		{plainFile, plainFile + ": permission denied"},
		{dir, dir + ": permission denied"},
		{text, text + ": exec format error"},
	} {
		want(t, run(t, execCheck(long, c.program), Target{Addr: local}), Fault, "command: "+c.reason)
	}
}

// At the timeout the whole group dies, children included.
func TestExecTimeout(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	c := execCheck(short*4, shellScript(t, "echo waiting >&2; sleep 60 & echo $$ $! > "+pids+"; wait"))
	start := time.Now()
	want(t, run(t, c, Target{Addr: local}), Fail, "not finished in 320ms: waiting")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
	ended(t, pids)
}

// ended waits until the processes whose numbers a file holds are gone.
func ended(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || len(strings.Fields(string(text))) == 0 {
		t.Fatalf("process numbers: %q, %v", text, err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, word := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(word)
		for deadline := time.Now().Add(long); alive(pid); <-tick.C {
			if time.Now().After(deadline) {
				t.Errorf("process %d still runs", pid)
				break
			}
		}
	}
}

// alive reports whether a process runs; one that waits for its parent to take
// note of its end does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// A child that outlives the command is killed with its group when the command
// has ended.
func TestExecLeavesNothing(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	c := execCheck(long, shellScript(t, "sleep 60 & echo $! > "+pids+"; exit 0"))
	start := time.Now()
	want(t, run(t, c, Target{Addr: local}), Pass, "")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
	ended(t, pids)
}

// One that left the group and holds the output open must not hold up anything.
func TestExecDaemon(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	for _, c := range []struct {
		end, reason string
		outcome     Outcome
	}{{"exit 0", "", Pass}, {"echo gone; exit 1", "exit status 1: gone", Fail}, {"sleep 60", "not finished in 1s", Fail}} {
		_ = os.Remove(pids)
		check := execCheck(time.Second, shellScript(t, "setsid sh -c 'echo $$ > "+pids+".new; mv "+pids+".new "+pids+
			"; exec sleep 60' &\nuntil [ -e "+pids+" ]; do :; done; "+c.end))
		start := time.Now()
		want(t, run(t, check, Target{Addr: local}), c.outcome, c.reason)
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: took %s", c.end, took)
		}
		text, err := os.ReadFile(pids)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || pid <= 1 {
			t.Fatalf("process %q", text)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestExecCancelled(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	c := execCheck(long, shellScript(t, "echo $$ > "+ready+".new; mv "+ready+".new "+ready+"; sleep 60"))
	p, err := New(c, Target{Addr: local}, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := os.Stat(ready); err == nil || ctx.Err() != nil {
				return
			}
		}
	}()
	want(t, Round(ctx, p, c), Fault, "cancelled")
	ended(t, ready)
	done, stop := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer stop()
	want(t, p.Probe(done), Fault, "command: not started in 5s")
	want(t, p.Probe(ctx), Fault, "cancelled")
}

func TestExecTrace(t *testing.T) {
	p, err := New(execCheck(long, shellScript(t, "echo no; exit 3")), Target{Addr: local}, true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Probe(context.Background()).Steps {
		got = append(got, s.What+" "+strings.TrimRight(s.Info, "0123456789"))
	}
	if w := []string{"start process ", "end exit status ", "output no"}; !slices.Equal(got, w) {
		t.Errorf("got %q, want %q", got, w)
	}
}

// With descriptors used up the probe is a fault, whatever else happens.
func TestExecNoDescriptors(t *testing.T) {
	if !child(t, nil) {
		return
	}
	c := execCheck(long, "true")
	want(t, run(t, c, Target{Addr: local}), Pass, "")
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few := was
	few.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	got := run(t, c, Target{Addr: local})
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	want(t, got, Fault, "command: no file descriptors left (raise LimitNOFILE or lower health.max_in_flight)")
}

func TestExecAddress(t *testing.T) {
	c := execCheck(long, "true")
	for port, want := range map[uint16]string{0: "127.0.0.1", 80: "127.0.0.1:80"} {
		if got := c.Address(Target{Addr: local, Port: port}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	c.Exec.Command = append(c.Exec.Command, "{name}")
	if c.Key(Target{Addr: local, Name: "a"}) == c.Key(Target{Addr: local, Name: "b"}) {
		t.Error("one key for two names that the command is given")
	}
}
