package app

import (
	"context"
	"os"
	"time"

	"go.uber.org/zap"
)

// stopTimeout leaves a margin within the 5 s in which a stop must be over.
const stopTimeout = 4 * time.Second

// Run serves until a signal comes on stop, and gives it back. A signal on
// hangup reloads; those that come meanwhile make one more reload together. A
// stop does not wait for that.
func (a *App) Run(stop, hangup <-chan os.Signal) os.Signal {
	go func() { // ends with Stop at the latest
		for {
			select {
			case <-hangup:
				a.reload(a.life, false, "SIGHUP")
			case <-a.life.Done():
				return
			}
		}
	}()
	return <-stop
}

// End stops within 5 s. What could not be finished in that time is cut off and
// logged.
func (a *App) End(sig os.Signal) {
	a.log.Info("stopping", zap.Stringer("signal", sig))
	a.ending = "signal: " + sig.String()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := a.Stop(ctx); err != nil {
		a.log.Warn("stopped with work in hand", zap.Error(err))
	}
	a.log.Info("stopped")
}
