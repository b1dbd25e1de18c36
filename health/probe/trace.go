package probe

import (
	"fmt"
	"net/netip"
	"time"
)

// common is what probers of every type hold.
type common struct {
	timeout time.Duration // as configured, for reasons; the caller's ctx enforces it
	local   netip.Addr    // source address; the zero Addr lets the kernel choose
	trace   bool
}

// tracer times one try and, if asked, notes its steps.
type tracer struct {
	on    bool
	start time.Time
	steps []Step
}

func (c *common) begin() *tracer {
	return &tracer{on: c.trace, start: time.Now()}
}

func (t *tracer) add(what, format string, args ...any) {
	if t.on {
		info := tidy(fmt.Sprintf(format, args...))
		t.steps = append(t.steps, Step{At: time.Since(t.start), What: what, Info: info})
	}
}

// pass is the result of a try whose last byte has just arrived.
func (t *tracer) pass() Result {
	return Result{Outcome: Pass, Latency: time.Since(t.start), Steps: t.steps}
}

// end is the result of a try that did not pass.
func (t *tracer) end(f *failure) Result {
	if t.on && t.steps == nil {
		t.steps = []Step{}
	}
	return Result{Outcome: f.outcome, Reason: tidy(f.reason), Steps: t.steps}
}
