package app

import "context"

// gate lets one in at a time, and lets those who wait give up. It is a channel
// of capacity 1.
type gate chan struct{}

// enter waits for its turn; the error is that of ctx, which also counts when
// the turn would come at once.
func (g gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() { <-g }
