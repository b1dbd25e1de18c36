package probe

import (
	"context"
	"fmt"
	"time"
)

// Round runs one round of c: a try, and up to c.Retries further ones at once
// until one passes. Each try has c.Timeout. A fault ends the round, since it
// says nothing about the target. When ctx ends first, the result is a Fault
// with the reason "cancelled".
func Round(ctx context.Context, p Prober, c Check) Result {
	start := time.Now()
	var steps []Step
	for n := 0; ; n++ {
		offset := time.Since(start)
		r := try(ctx, p, c.Timeout)
		for _, s := range r.Steps {
			s.At += offset
			steps = append(steps, s)
		}
		if ctx.Err() != nil && r.Outcome != Pass {
			r = Result{Outcome: Fault, Reason: cancelled}
		}
		if r.Outcome != Fail || n >= c.Retries {
			r.Steps = steps
			return r
		}
		if r.Steps != nil {
			info := fmt.Sprintf("%d of %d, after: %s", n+1, c.Retries, r.Reason)
			steps = append(steps, Step{At: time.Since(start), What: "retry", Info: info})
		}
	}
}

func try(ctx context.Context, p Prober, timeout time.Duration) Result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return p.Probe(ctx)
}
