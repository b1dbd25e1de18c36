package app

import "runtime/debug"

// largeLoad is the number of records from which on a load leaves so much garbage behind that it is given back to the system at once.
const largeLoad = 100_000

// release gives memory back that loading so many records has used.
func release(records int) {
	if records >= largeLoad {
		debug.FreeOSMemory()
	}
}

// releaseLoad is release after a reload of what was served before it. It is
// judged by the larger one: the garbage may be of either.
func (a *App) releaseLoad(before *state) { release(max(before.records(), a.cur.records())) }

// records counts those of all zones.
func (s *state) records() (n int) {
	for _, z := range s.zones {
		n += z.records
	}
	return n
}
