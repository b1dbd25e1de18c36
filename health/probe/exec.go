package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// linger is how long the output of a program that has ended, or was killed, is
// still awaited: a process that it left behind may hold the pipe open.
const linger = 100 * time.Millisecond

type execProber struct {
	common
	opts Exec
	args []string
	env  []string
}

func newExec(c Check, t Target, base common) (Prober, error) {
	o := c.Exec
	if len(o.Command) == 0 {
		return nil, fmt.Errorf("command is empty")
	}
	if c.LacksPort(t) {
		return nil, fmt.Errorf("command uses {port}, and target %s has none", t.Addr)
	}
	env := []string{"PATH=" + os.Getenv("PATH")}
	for _, e := range o.Env {
		env = append(env, e[0]+"="+e[1])
	}
	return &execProber{common: base, opts: *o, args: o.arguments(t), env: env}, nil
}

// MaxRunning is how many rounds of a check may run at the same time, whatever
// their targets; 0 for any number.
func (c Check) MaxRunning() int {
	if c.Exec == nil {
		return 0
	}
	return c.Exec.MaxRunning
}

// LacksPort says that the command of a check is to be given the target's port,
// and the target has none. Such a check can only be a Fault.
func (c Check) LacksPort(t Target) bool {
	return c.Exec != nil && t.Port == 0 && c.Exec.names("{port}")
}

// arguments are those of the command for t; the program's name stays.
func (o *Exec) arguments(t Target) []string {
	values := strings.NewReplacer("{address}", t.Addr.Unmap().String(),
		"{port}", strconv.Itoa(int(t.Port)), "{name}", t.askedName())
	var args []string
	for _, a := range o.Command[min(1, len(o.Command)):] {
		args = append(args, values.Replace(a))
	}
	return args
}

func (o *Exec) names(placeholder string) bool {
	for _, a := range o.Command[min(1, len(o.Command)):] {
		if strings.Contains(a, placeholder) {
			return true
		}
	}
	return false
}

// Probe runs the command in a process group of its own, without a shell and
// without input. When it has ended or the time is up, the group is killed.
func (p *execProber) Probe(ctx context.Context) Result {
	tr := p.begin()
	var out, errs head
	cmd := exec.CommandContext(ctx, p.opts.Command[0], p.args...)
	cmd.Dir, cmd.Env = p.opts.Dir, p.env
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = linger
	separate(cmd)
	if err := cmd.Start(); err != nil {
		return tr.end(p.notStarted(ctx, err))
	}
	tr.add("start", "process %d", cmd.Process.Pid)
	err := finish(cmd)
	tr.add("end", "%s", cmd.ProcessState)
	said := errs.line()
	if said == "" {
		said = out.line()
	}
	if said != "" {
		tr.add("output", "%s", said)
	}
	if cmd.ProcessState.Success() {
		return tr.pass()
	}
	return tr.end(p.verdict(ctx, err, said))
}

// verdict words why a command that was started did not pass.
func (p *execProber) verdict(ctx context.Context, err error, said string) *failure {
	var exit *exec.ExitError
	reason := ""
	switch {
	case ctx.Err() == context.Canceled:
		return fault(cancelled)
	case ctx.Err() != nil:
		reason = fmt.Sprintf("not finished in %s", p.timeout)
	case errors.As(err, &exit):
		reason = exit.ProcessState.String()
	default:
		return fault("command: %s", err)
	}
	if said != "" {
		reason += ": " + said
	}
	return failed("%s", reason)
}

// notStarted is a fault, since nothing was asked of the target.
func (p *execProber) notStarted(ctx context.Context, err error) *failure {
	switch ctx.Err() {
	case nil:
	case context.Canceled:
		return fault(cancelled)
	default:
		return fault("command: not started in %s", p.timeout)
	}
	var (
		path *fs.PathError
		look *exec.Error
	)
	switch errno := errnoOf(err); {
	case errno == syscall.EMFILE, errno == syscall.ENFILE:
		_, text := blame(err, errno)
		return fault("command: %s", text)
	case errors.As(err, &look):
		err = look.Err
	case errors.As(err, &path):
		err = path.Err
	}
	return fault("command: %s: %s", plain(p.opts.Command[0]), err)
}

// head keeps the beginning of what is written to it and drops the rest, so
// that a program is neither stopped nor remembered for much output.
type head struct{ text []byte }

func (h *head) Write(b []byte) (int, error) {
	h.text = append(h.text, b[:min(len(b), 4096-len(h.text))]...)
	return len(b), nil
}

// line is the first line that is not blank, as a reason shows it.
func (h *head) line() string {
	for l := range strings.Lines(string(h.text)) {
		if l = strings.TrimSpace(l); l != "" {
			return brief(l)
		}
	}
	return ""
}

// brief shows a text as it is, cut where it is long; quoted if it is not all
// printable.
func brief(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText-len("…")], "") + "…"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == '\uFFFD' }) {
		return quote(s)
	}
	return s
}
