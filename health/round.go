package health

import (
	"context"
	"fmt"
	"runtime/debug"

	"gslbd/health/probe"
)

// try runs one round of the job. Whatever keeps our own side from probing, even
// a panic, is a fault.
func (m *monitor) try(ctx context.Context, j *job) (out outcome) {
	out.job = j
	defer func() {
		if p := recover(); p != nil {
			j.prober = nil
			out.result = fault(fmt.Sprintf("the prober panicked: %v", p))
			out.stack = string(debug.Stack())
		}
	}()
	if j.prober == nil {
		prober, err := m.opts.NewProber(j.check, j.target, false)
		if err != nil {
			out.result = fault(err.Error())
			return out
		}
		j.prober = prober
	}
	out.result = probe.Round(ctx, j.prober, j.check)
	return out
}

func fault(reason string) probe.Result {
	return probe.Result{Outcome: probe.Fault, Reason: reason}
}
