package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"gslbd/zone"
)

// LoadIdle and LoadNice are the last argument of the command that runs
// LoadApart: when such a process may have a core.
const (
	LoadIdle = "idle" // when nothing else wants it
	LoadNice = "nice" // its share, at the lowest nice value
)

const (
	maxStderr = 4 << 10     // bytes kept of what a load says before it fails
	endGrace  = time.Second // how long a load may go on that delivers no more
)

// errEnded is about a load of which the server must not try the same: it ran out
// of memory, or crashed, or somebody wanted an end of it.
var errEnded = errors.New("the process that loaded the zone was ended, or crashed")

// errStarved is about a load that was to run in idle time, of which there is none.
var errStarved = errors.New("no idle time")

// process is a load that runs apart.
type process struct {
	cmd   *exec.Cmd
	out   io.ReadCloser
	said  head
	ended chan struct{} // closed when it is gone; then err and ours are set
	err   error
	ours  bool // it was ended by us
}

// loadApart loads a zone in a process of its own. It does not wait for the end
// of a process that has delivered, or that ctx ends: on a machine without idle
// time an idle one takes long to die.
func (a *App) loadApart(ctx context.Context, o order, when string) (*served, zone.Problems, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p, err := startProcess(ctx, append(slices.Clone(a.opts.Apart), when), o)
	if err != nil {
		return nil, nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = p.out.Close() })()
	loading, loaded := context.WithCancel(ctx)
	defer loaded()
	if when == LoadIdle {
		go starves(loading, func() (time.Duration, error) { return cpuTime(p.cmd.Process.Pid) }, a.opts.IdleLoad, cancel)
	}
	in := bufio.NewReaderSize(p.out, 1<<16)
	_, _ = in.Peek(1) // from here on the server's own pace counts
	loaded()
	z, problems, err := receive(in)
	a.loads.Add(1)
	go func() {
		defer a.loads.Done()
		a.reap(p, err)
	}()
	if err == nil {
		z.finish(o.Source)
		return z, problems, nil
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
	case <-time.After(2 * endGrace):
		return nil, nil, fmt.Errorf("%w: it is killed, and still there: %w", errEnded, err)
	}
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("loading apart: %w", context.Cause(ctx))
	}
	if err = errors.Join(err, p.err); p.said.text != "" {
		err = fmt.Errorf("%w: %s", err, p.said.text)
	}
	if !p.ours && badEnd(p.cmd.ProcessState, p.said.text) {
		return nil, nil, fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil, nil, fmt.Errorf("loading apart: %w", err)
}

// starves cancels ctx when a process gets too little of the cores, by what it had
// of them: less than idleShare of one in some span. A look that is late makes the
// next one as late, lest the time between the two is too short to tell.
func starves(ctx context.Context, has func() (time.Duration, error), span time.Duration, cancel context.CancelCauseFunc) {
	for had := time.Duration(0); ; {
		select {
		case <-time.After(span):
		case <-ctx.Done():
			return
		}
		now, err := has()
		if err != nil {
			return // it has ended
		}
		if now < had+span/idleShare {
			cancel(errStarved)
			return
		}
		had = now
	}
}

func startProcess(ctx context.Context, command []string, o order) (*process, error) {
	var orders bytes.Buffer
	if err := gob.NewEncoder(&orders).Encode(o); err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, command[0], command[1:]...), ended: make(chan struct{})}
	// A zone leaves little garbage: a fifth less work for a tenth more memory. What
	// the operator has set stays, as the last of two.
	p.cmd.Env = append([]string{"GOGC=400"}, os.Environ()...)
	p.cmd.Stdin, p.cmd.Stderr, p.cmd.SysProcAttr = &orders, &p.said, dieTogether()
	p.cmd.WaitDelay = time.Second
	var err error
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

// reap sees to it that the process ends, from what came of receiving.
func (a *App) reap(p *process, received error) {
	defer close(p.ended)
	wait := time.Duration(0)
	switch {
	case received == nil:
		// Threads of a process that ends clean up after themselves, and reaping it
		// does the same: it would turn in circles, on the core that they need, until
		// they are done (shrink_dcache_parent in Linux).
		select {
		case <-time.After(endGrace):
		case <-a.life.Done():
		}
	case errors.Is(received, io.EOF), errors.Is(received, io.ErrUnexpectedEOF):
		wait = endGrace // how it ends by itself is worth knowing; else it may be writing on
	}
	killing := time.AfterFunc(wait, func() { _ = p.cmd.Process.Kill() })
	p.err = p.cmd.Wait()
	p.ours = !killing.Stop()
}

// awaitLoads waits for what reap still does, for a while at most: the kernel ends
// such processes with the server.
func (a *App) awaitLoads(ctx context.Context) error {
	gone := make(chan struct{})
	go func() { defer close(gone); a.loads.Wait() }()
	select {
	case <-gone:
	case <-time.After(endGrace):
	case <-ctx.Done():
	}
	return nil
}

// badEnd tells whether a load was ended from outside or crashed, from how it
// ended and what it said. One that was denied a thread says nothing against the
// zone, and takes no more threads here.
func badEnd(state *os.ProcessState, said string) bool {
	if strings.Contains(said, "failed to create new OS thread") || strings.Contains(said, "pthread_create failed") {
		return false
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return slices.Contains([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGABRT}, status.Signal())
	}
	return strings.Contains(said, "fatal error: ") || strings.Contains(said, "panic: ")
}

// head keeps the beginning of what is written to it: a crash says why first.
type head struct{ text string }

func (h *head) Write(p []byte) (int, error) {
	h.text += strings.ToValidUTF8(string(p[:min(len(p), max(0, maxStderr-len(h.text)))]), "?")
	return len(p), nil
}
