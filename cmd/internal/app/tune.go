package app

import (
	"os"
	"runtime"

	"go.uber.org/zap"
)

// ballastSize is by how many bytes the memory in use seems larger to the garbage
// collector than it is. That many bytes of garbage more may be left before it
// runs: with two thousand probes and a thousand failovers a second it runs every
// few seconds, not every second. A run takes the core for some 10 ms, in turns
// with the answers.
const ballastSize = 32 << 20

// Tune prepares this process for serving: whatever else it does, a query should
// wait for little of it. What the operator has set by GOMAXPROCS, GOGC and
// GOMEMLIMIT stays. The result is to be called at the end.
func Tune(log *zap.Logger) (end func()) {
	spareThread()
	if err := shortSlices(); err != nil {
		log.Info("the kernel's time slices stay as they are", zap.String("why", err.Error()))
	}
	b := ballast()
	return func() { runtime.KeepAlive(b) }
}

// spareThread lets one goroutine more run at a time than there are workers that
// answer: while a zone is loaded, one is free for the worker that a query wakes.
func spareThread() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// ballast is memory that nobody touches, so that the system need not provide it.
func ballast() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	b := make([]byte, ballastSize)
	untouch(b)
	return b
}
