package app

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"gslbd/health"
)

// ids gives the first and last ID and the number of events after an ID.
func (r *recorder) ids(after uint64) (first, last uint64, n int) {
	events, _ := r.after(after)
	for i, e := range events {
		if i > 0 && e.ID <= last {
			return 0, 0, -1
		}
		last = e.ID
	}
	if len(events) > 0 {
		first = events[0].ID
	}
	return first, last, len(events)
}

func filled(n int) *recorder {
	r := newRecorder()
	for range n {
		r.add(health.Event{Kind: health.EventMember})
	}
	return r
}

// The last 10,000 are remembered, each with an ID that counts on.
func TestRecorderRemembers(t *testing.T) {
	for _, row := range []struct {
		added       int
		after       uint64
		first, last uint64
		n           int
	}{
		{0, 0, 0, 0, 0},
		{1, 0, 1, 1, 1},
		{3, 1, 2, 3, 2},
		{3, 3, 0, 0, 0},
		{3, 4, 1, 3, 3}, // an ID of a life before
		{10_000, 0, 1, 10_000, 10_000},
		{10_001, 0, 2, 10_001, 10_000},
		{25_000, 0, 15_001, 25_000, 10_000},
		{25_000, 19_998, 19_999, 25_000, 5002},
		{25_000, 20_003, 20_004, 25_000, 4997},
		{25_000, 24_999, 25_000, 25_000, 1},
		{25_000, 25_000, 0, 0, 0},
	} {
		if first, last, n := filled(row.added).ids(row.after); first != row.first || last != row.last || n != row.n {
			t.Errorf("%d added, after %d: %d from %d to %d", row.added, row.after, n, first, last)
		}
	}
}

// Who waits is woken by the next event, and misses none.
func TestRecorderWakes(t *testing.T) {
	r := newRecorder()
	const all = 5000
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			last := uint64(0)
			for last < all {
				events, more := r.after(last)
				if len(events) == 0 {
					<-more
					continue
				}
				for _, e := range events {
					if e.ID != last+1 {
						t.Errorf("%d after %d", e.ID, last)
						return
					}
					last = e.ID
				}
			}
		})
	}
	for range all {
		r.add(health.Event{})
	}
	readers.Wait()
}

// Those who read all again and again do not hold up whoever tells of something;
// the bound is far above what a busy machine adds, and far below what it took to
// copy 10,000 events for each of them.
func TestRecorderReadersHoldUpNobody(t *testing.T) {
	r := filled(2 * maxEvents)
	var readers sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 64 {
		readers.Go(func() {
			for ctx.Err() == nil {
				r.after(0)
			}
		})
	}
	var took []time.Duration
	for range 30 {
		<-time.After(time.Millisecond)
		begin := time.Now()
		r.add(health.Event{})
		took = append(took, time.Since(begin))
	}
	cancel()
	readers.Wait()
	slices.Sort(took)
	if typical := took[len(took)/2]; typical > 50*time.Millisecond {
		t.Errorf("an event took %v to tell, at most %v", typical, took[len(took)-1])
	}
}

// What is given out does not change when the ring goes on.
func TestRecorderGivesCopies(t *testing.T) {
	r := filled(maxEvents)
	events, _ := r.after(0)
	r.add(health.Event{})
	if events[0].ID != 1 || events[0].Time.IsZero() || events[0].Time.Location().String() != "UTC" {
		t.Errorf("%+v", events[0])
	}
}

// Memory is bounded when the disk does not take what happens.
func TestRecorderDrops(t *testing.T) {
	r := newRecorder()
	r.resume(nil)
	for range maxUnwritten + 7 {
		r.add(health.Event{})
	}
	events, dropped := r.take()
	if len(events) != maxUnwritten || dropped != 7 {
		t.Errorf("%d to write, %d dropped", len(events), dropped)
	}
	if events, dropped = r.take(); len(events) != 0 || dropped != 0 {
		t.Errorf("again: %d to write, %d dropped", len(events), dropped)
	}
}

// A start goes on where the events of before end, also where some are missing;
// where IDs begin anew, what came before that is left out.
func TestRecorderResumes(t *testing.T) {
	before := func(ids ...uint64) (events []health.Event) {
		for _, id := range ids {
			events = append(events, health.Event{ID: id, Kind: health.EventStart})
		}
		return events
	}
	for _, row := range []struct {
		before         []health.Event
		first, last, n int
	}{
		{nil, 1, 1, 1},
		{before(4, 5, 9), 4, 10, 4},
		{before(4, 5, 1, 2), 1, 3, 3},
	} {
		r := newRecorder()
		r.resume(row.before)
		r.add(health.Event{})
		if first, last, n := r.ids(0); int(first) != row.first || int(last) != row.last || n != row.n {
			t.Errorf("%d from %d to %d", n, first, last)
		}
		if events, _ := r.take(); len(events) != 1 {
			t.Errorf("%d to be written", len(events))
		}
	}
}
