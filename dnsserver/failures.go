package dnsserver

import (
	"time"

	"go.uber.org/zap"
)

// failuresQuiet is the shortest time between two log lines about failures of one socket, which may come by the hundred a second.
const failuresQuiet = time.Minute

// failures counts what goes wrong with one socket until the log is told of it.
type failures struct {
	count uint64
	told  time.Time
}

// add tells the log of one more, unless it was told lately. The line says how many there were.
func (f *failures) add(log *zap.Logger, event string, fields ...zap.Field) {
	f.count++
	if now := time.Now(); f.told.IsZero() || now.Sub(f.told) >= failuresQuiet {
		log.Error(event, append(fields, zap.Uint64("failures", f.count))...)
		f.count, f.told = 0, now
	}
}
