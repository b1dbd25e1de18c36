package probe

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script answers tries in order; an answer with delay waits for it or for ctx.
type script []scripted

type scripted struct {
	Result
	delay time.Duration
}

func (s *script) Probe(ctx context.Context) Result {
	next := (*s)[0]
	*s = (*s)[1:]
	select {
	case <-time.After(next.delay):
		return next.Result
	case <-ctx.Done():
		return Result{Outcome: Fail, Reason: "no reply"}
	}
}

func TestRound(t *testing.T) {
	pass := scripted{Result{Outcome: Pass, Latency: time.Second}, time.Second}
	fail := scripted{Result{Outcome: Fail, Reason: "refused"}, time.Second}
	other := scripted{Result{Outcome: Fail, Reason: "reset"}, time.Second}
	broken := scripted{Result{Outcome: Fault, Reason: "no descriptors"}, time.Second}
	slow := scripted{Result{Outcome: Pass}, time.Hour}
	for _, c := range []struct {
		about   string
		tries   script
		retries int
		want    Result
		took    time.Duration
		left    int
	}{
		{"pass at once", script{pass, fail}, 2, pass.Result, time.Second, 1},
		{"fail without retries", script{fail, pass}, 0, fail.Result, time.Second, 1},
		{"pass at the last retry", script{fail, fail, pass}, 2, pass.Result, 3 * time.Second, 0},
		{"the last failure is told", script{fail, other}, 1, other.Result, 2 * time.Second, 0},
		{"a fault ends the round", script{fail, broken, pass}, 5, broken.Result, 2 * time.Second, 1},
		{"a fault first", script{broken, pass}, 1, broken.Result, time.Second, 1},
		{"each try has its own timeout", script{slow, slow, pass}, 2, pass.Result, 11 * time.Second, 0},
		{"all time out", script{slow, slow, slow}, 2, Result{Outcome: Fail, Reason: "no reply"}, 15 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			got := Round(context.Background(), &c.tries, Check{Timeout: 5 * time.Second, Retries: c.retries})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.about, diff)
			}
			if took := time.Since(start); took != c.took {
				t.Errorf("%s: took %s, want %s", c.about, took, c.took)
			}
			if len(c.tries) != c.left {
				t.Errorf("%s: %d tries left, want %d", c.about, len(c.tries), c.left)
			}
		})
	}
}

func TestRoundCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		tries := script{{Result{Outcome: Pass}, time.Hour}, {Result{Outcome: Pass, Latency: 1}, 0}}
		got := Round(ctx, &tries, Check{Timeout: 5 * time.Second, Retries: 3})
		want(t, got, Fault, "cancelled")
		if len(tries) != 1 {
			t.Error("a cancelled round went on")
		}
	})
}

func TestRoundKeepsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := []Step{{time.Second, "connect", "x"}}
		tries := script{
			{Result{Outcome: Fail, Reason: "refused", Steps: step}, time.Second},
			{Result{Outcome: Pass, Latency: time.Second, Steps: step}, time.Second},
		}
		got := Round(context.Background(), &tries, Check{Timeout: 5 * time.Second, Retries: 1})
		want := []Step{
			{time.Second, "connect", "x"},
			{time.Second, "retry", "1 of 1, after: refused"},
			{2 * time.Second, "connect", "x"},
		}
		if diff := cmp.Diff(want, got.Steps); diff != "" {
			t.Error(diff)
		}
	})
}
