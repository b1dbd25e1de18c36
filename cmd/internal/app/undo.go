package app

import (
	"context"
	"errors"
)

// undo is the stack of what has been started. A failed Start and Stop both
// unwind it, so that neither can leave something behind that the other knows.
type undo struct {
	steps []func(context.Context) error
}

func (u *undo) push(step func(context.Context) error) {
	u.steps = append(u.steps, step)
}

// start runs work, whose reverse is to end its context and to wait for it: the
// error late says that it took too long.
func (u *undo) start(work func(context.Context), late string) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); work(ctx) }()
	u.push(func(ctx context.Context) error {
		cancel()
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return errors.New(late)
		}
	})
}

// unwind runs the steps, last first, and empties the stack. ctx bounds them all.
func (u *undo) unwind(ctx context.Context) error {
	var errs []error
	for len(u.steps) > 0 {
		last := len(u.steps) - 1
		step := u.steps[last]
		u.steps = u.steps[:last]
		errs = append(errs, step(ctx))
	}
	return errors.Join(errs...)
}
