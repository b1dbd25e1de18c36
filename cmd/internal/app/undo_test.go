package app

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestUndo(t *testing.T) {
	var u undo
	var order []int
	failed := errors.New("stuck")
	for i := range 3 {
		u.push(func(context.Context) error {
			order = append(order, i)
			if i == 1 {
				return failed
			}
			return nil
		})
	}
	if err := u.unwind(t.Context()); !errors.Is(err, failed) {
		t.Errorf("got %v, want %v", err, failed)
	}
	if len(order) != 3 || order[0] != 2 || order[2] != 0 {
		t.Errorf("order was %v", order)
	}
	if err := u.unwind(t.Context()); err != nil || len(order) != 3 {
		t.Errorf("a second time: %v, %v", err, order)
	}
}

// What was started is ended and waited for, though no longer than the stop may take.
func TestUndoStart(t *testing.T) {
	var u undo
	ended, stuck := false, make(chan struct{})
	u.start(func(ctx context.Context) { <-ctx.Done(); ended = true }, "never said")
	if err := u.unwind(t.Context()); err != nil || !ended {
		t.Errorf("ended: %v, %v", ended, err)
	}
	u.start(func(context.Context) { <-stuck }, "it took too long")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := u.unwind(ctx); err == nil || err.Error() != "it took too long" {
		t.Errorf("%v", err)
	}
	close(stuck)
}

func TestGate(t *testing.T) {
	g := make(gate, 1)
	if err := g.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := g.enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got in twice: %v", err)
	}
	g.leave()
	if err := g.enter(t.Context()); err != nil {
		t.Error(err)
	}
}
