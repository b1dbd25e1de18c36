package health

import "gslbd/health/probe"

// lane is what the jobs of one check share that has a limit of its own on how
// many of its rounds run at the same time. A job whose turn has come while the
// lane is full waits here, where it takes no other check's place in flight.
type lane struct {
	running int
	waiting []*job // the longest waiting first
}

// laneOf names the lane of a check: its definition without a target. It is ""
// for one without a limit.
func laneOf(c probe.Check) string {
	if c.MaxRunning() == 0 {
		return ""
	}
	return c.Key(probe.Target{})
}

// enter takes a place for a job that is due, or lets it wait. The caller holds
// m.mu.
func (m *monitor) enter(j *job) bool {
	if j.lane == "" {
		return true
	}
	l := m.lanes[j.lane]
	if l == nil {
		l = new(lane)
		m.lanes[j.lane] = l
	}
	if l.running >= j.check.MaxRunning() {
		l.waiting = append(l.waiting, j)
		return false
	}
	l.running++
	return true
}

// leave gives a place back and queues who waited longest for it. The caller
// holds m.mu.
func (m *monitor) leave(j *job) {
	l := m.lanes[j.lane]
	if l == nil {
		return
	}
	l.running--
	for len(l.waiting) > 0 {
		next := l.waiting[0]
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
		if !next.removed {
			m.enqueue(next)
			return
		}
	}
	if l.running == 0 {
		delete(m.lanes, j.lane)
	}
}

// recall queues all who wait, since a new plan may have taken away those who had
// been called. They wait again as their turns come. The caller holds m.mu.
func (m *monitor) recall() {
	for name, l := range m.lanes {
		for _, j := range l.waiting {
			if !j.removed {
				m.enqueue(j)
			}
		}
		l.waiting = nil
		if l.running == 0 {
			delete(m.lanes, name)
		}
	}
}
