package app

import (
	"context"
	"os"
	"time"

	"go.uber.org/zap"
)

// stopTimeout leaves a margin within the 5 s in which a stop must be over.
const stopTimeout = 4 * time.Second

// Run serves until a signal comes on stop, and gives it back. Each signal on
// hangup reloads; a stop does not wait for that.
func (a *App) Run(stop, hangup <-chan os.Signal) os.Signal {
	for {
		select {
		case sig := <-stop:
			return sig
		case <-hangup:
			go a.Reload(context.Background(), false) // ends with Stop at the latest
		}
	}
}

// End stops within 5 s. What could not be finished in that time is cut off and
// logged.
func (a *App) End(sig os.Signal) {
	a.log.Info("stopping", zap.Stringer("signal", sig))
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := a.Stop(ctx); err != nil {
		a.log.Warn("stopped with work in hand", zap.Error(err))
	}
	a.log.Info("stopped")
}
