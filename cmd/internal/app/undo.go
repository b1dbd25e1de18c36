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
