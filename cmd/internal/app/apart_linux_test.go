package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process that yields does so with all its threads, those that come later
// included: idle (policy 5, sched(7); the nice value stays), or with the lowest
// nice value. It begins anew once only, whatever nice value the server has.
func TestYield(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for how, want := range map[string]string{LoadIdle: "5/", LoadNice: "0/19"} {
		for _, nice := range []string{"0", "7", "-15"} { // nice(1) goes on where it may not
			cmd := exec.CommandContext(ctx, "nice", "-n", nice, self, how)
			cmd.Env = append(os.Environ(), beLoader+"=policies")
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s, nice %s: %v", how, nice, err)
			}
			words := strings.Fields(string(out))
			if len(words) < 2 || slices.ContainsFunc(words, func(w string) bool { return !strings.HasPrefix(w, want) }) {
				t.Errorf("%s, nice %s: policies and nice values %q, want all %s", how, nice, words, want)
			}
		}
	}
}

// While a zone is loaded, no thread of the server itself has a lower priority
// than the others: one that stops them, for the garbage collector, would wait
// for its turn meanwhile.
func TestReloadKeepsPriority(t *testing.T) {
	dirWith(t, "", serial(1, "www A 127.0.0.1 ; @primary check=none\n"))
	a, _ := launchHere(t, apartBy(t, `cut -d' ' -f19 /proc/$PPID/task/*/stat | sort -u > nice; `+runLoader))
	put(t, "a.zone", big(1, "127.0.0.2"))
	if problems := a.Reload(t.Context(), false); problems.Failed(false) || query(t, a, "www.example.com") != "127.0.0.2" {
		t.Fatalf("%v, %s", problems, query(t, a, "www.example.com"))
	}
	own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile("nice"); err != nil || string(text) != fmt.Sprintln(20-own) {
		t.Errorf("nice values %q, %v; want %d alone", text, err, 20-own)
	}
}

// The time that a process had is that of all its threads, and of none that is gone.
func TestCPUTime(t *testing.T) {
	var before, after syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	had, err2 := cpuTime(os.Getpid())
	err3 := syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	used := func(r *syscall.Rusage) time.Duration { return time.Duration(r.Utime.Nano() + r.Stime.Nano()) }
	if slack := 10 * time.Millisecond; had < used(&before)-slack || had > used(&after)+slack || had == 0 {
		t.Errorf("%v, but getrusage says %v to %v", had, used(&before), used(&after))
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if had, err := cpuTime(gone.Process.Pid); err == nil {
		t.Errorf("a process that is gone had %v", had)
	}
}
