package main

import (
	"encoding/binary"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openLoop asks at a constant rate, whether answers come or not. An answer's latency counts from the time at which its query was due, so
// a server that stands still is not hidden. What the generator itself stands still is: it never waits for the server.
type openLoop struct {
	*generator
	set      *querySet
	check    func(query int, reply []byte) bool
	sent     [1 << 16]time.Duration // when the query with this ID was due, since start; 0 = answered
	start    time.Time
	due      time.Duration
	number   int // of queries so far
	took     []time.Duration
	lost     int
	wrong    int
	recorded bool          // whether latencies are kept now
	awake    time.Duration // since when the generator has run without a break: queries of before are not recorded
	asleep   time.Duration // how long it did not run while latencies were kept
	left     int           // answers that were not recorded for that
	pids     []int
	busy     float64       // cores that the server used in the last run that was recorded
	length   time.Duration // of that run
}

func newOpenLoop(d *daemon, s *querySet) (*openLoop, error) {
	g, err := newGenerator(d.port, flows)
	if err != nil {
		return nil, err
	}
	pids, err := d.processes()
	l := &openLoop{generator: g, pids: pids, set: s, check: right(s, false), start: time.Now(), due: 1, took: make([]time.Duration, 0, 1<<22)}
	if d.name == plainFloor {
		l.check = func(int, []byte) bool { return true }
	}
	return l, err
}

// run goes on for a time at a rate (per second). each is called some thousand times a second.
func (l *openLoop) run(length time.Duration, rate float64, each func(now time.Time) (done bool)) error {
	gap := time.Duration(float64(time.Second) / rate)
	before, err := settled(l.pids)
	if err != nil {
		return err
	}
	now := time.Since(l.start)
	began := now
	end := now + length
	l.due, l.awake = now, now // what an earlier run left open has waited for this one
	for turn := 0; now < end; turn++ {
		for ; l.due <= now; l.due += gap {
			if err := l.send(); err != nil {
				return err
			}
		}
		if !l.take(&l.flows[turn%len(l.flows)]) {
			giveWay()
		}
		if turn%64 == 0 && each(l.start.Add(now)) {
			break
		}
		last := now
		if now = time.Since(l.start); now-last > standstill {
			l.woke(last, now)
		}
	}
	after, err := settled(l.pids)
	if l.recorded {
		l.length, l.busy = now-began, (after-before).Seconds()/(now-began).Seconds()
	}
	return err
}

// woke goes on from now, after the generator has not run since last: another process had its core, or the machine's owner.
func (l *openLoop) woke(last, now time.Duration) {
	l.due, l.awake = max(l.due, now), now
	if l.recorded {
		l.asleep += now - last
	}
}

func (l *openLoop) send() error {
	id, at := uint16(l.number), l.number%setSize
	if l.sent[id] != 0 {
		l.lost++
	}
	query := l.set.query(at)
	binary.BigEndian.PutUint16(query, id)
	l.sent[id] = l.due
	l.number++
	_, err := unix.Write(l.flows[l.number%len(l.flows)].fd, query)
	if err == unix.EAGAIN {
		return nil // counted as lost when its ID comes again
	}
	return err
}

// take receives what is there. It reports whether something was.
func (l *openLoop) take(f *flow) bool {
	r, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(f.fd), uintptr(unsafe.Pointer(&l.in)), block, unix.MSG_DONTWAIT, 0, 0)
	if errno != syscall.Errno(0) {
		return false
	}
	now := time.Since(l.start)
	for i := range int(r) {
		reply := l.replies[i][:min(l.in[i].length, replySize)]
		if len(reply) < 12 {
			l.wrong++
			continue
		}
		id := binary.BigEndian.Uint16(reply)
		due := l.sent[id]
		newest := uint16(l.number - 1)
		at := (l.number - 1 - int(newest-id)) % setSize
		if due == 0 || at < 0 || !l.check(at, reply) {
			l.wrong++
			continue
		}
		l.sent[id] = 0
		switch {
		case !l.recorded:
		case due < l.awake:
			l.left++
		default:
			l.took = append(l.took, now-due)
		}
	}
	return true
}

// percentiles gives p50, p99, p99.9 and the longest latency that was kept, and drops them all.
func (l *openLoop) percentiles() (p [4]time.Duration, n int) {
	n = len(l.took)
	if n == 0 {
		return p, 0
	}
	slices.Sort(l.took)
	for i, share := range []float64{.5, .99, .999, 1} {
		p[i] = l.took[min(n-1, int(share*float64(n)))]
	}
	l.took = l.took[:0]
	return p, n
}
