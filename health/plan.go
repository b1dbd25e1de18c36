package health

import (
	"container/heap"
	"time"
)

// demand is one probe that is wanted, and how often.
type demand struct {
	job      *job
	interval time.Duration
}

// set replaces what is probed. Jobs that stay keep their schedule, though their
// next round has a new prober; a changed interval counts from the end of the
// last round; new ones are due at once; the others are cancelled.
func (m *monitor) set(demands []demand) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	wanted := make(map[*job]struct{}, len(demands))
	for _, d := range demands {
		j := d.job
		wanted[j] = struct{}{}
		if _, known := m.jobs[j]; !known {
			j.interval, j.added, j.due = d.interval, now, now
			m.enqueue(j)
			continue
		}
		j.renew = true
		if j.interval != d.interval {
			j.interval = d.interval
			m.reschedule(j)
		}
	}
	for j := range m.jobs {
		if _, ok := wanted[j]; !ok {
			m.remove(j)
		}
	}
	m.recall()
	m.jobs = wanted
	m.applied = true
	m.poke()
}

func (m *monitor) reschedule(j *job) {
	if j.rounds == 0 {
		return // due since it was added
	}
	j.late = 0
	j.reckon()
	if now := time.Now(); j.due.Before(now) {
		j.due = now // that it is late is our doing
	}
	if j.place >= 0 {
		m.queue[j.place].due = j.due
		heap.Fix(&m.queue, j.place)
	}
}

func (m *monitor) remove(j *job) {
	j.removed = true
	if j.cancel != nil {
		j.cancel()
	}
	if j.place >= 0 {
		heap.Remove(&m.queue, j.place)
	}
}

// poke wakes the scheduler; one wake-up pending is enough.
func (m *monitor) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// due gives when a job's next round starts, or the present one was to start.
func (m *monitor) due(jobs []*job) []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]time.Time, len(jobs))
	for i, j := range jobs {
		out[i] = j.due
	}
	return out
}

func (m *monitor) isReady() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready || !m.applied {
		return m.ready
	}
	now := time.Now()
	for j := range m.jobs {
		if !j.reported && now.Sub(j.added) < 2*j.check.Timeout {
			return false
		}
	}
	m.ready = true
	return true
}

func (m *monitor) statistics() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Probes, s.InFlight = len(m.jobs), m.inFlight
	return s
}
