package dnsserver

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pattern asks n times at one moment: "." an answer, "x" none, "t" a truncated one.
func pattern(table bucketTable, hash uint64, now, cost time.Duration, slip, n int) string {
	var b []byte
	for range n {
		over, slips := table.take(hash, int64(now), int64(cost), slip)
		switch {
		case !over:
			b = append(b, '.')
		case slips:
			b = append(b, 't')
		default:
			b = append(b, 'x')
		}
	}
	return string(b)
}

// One bucket, step by step: a second's worth at once, what slips, and how time fills it.
func TestBucketSteps(t *testing.T) {
	const ms = time.Millisecond
	table := newBucketTable(8)
	for _, step := range []struct {
		at   time.Duration
		want string
	}{
		{0, ".....xtxtx"},
		{100 * ms, "tx"}, // the count goes on; a fifth of a second makes one answer
		{200 * ms, ".tx"},
		{399 * ms, "tx"},
		{400 * ms, ".t"},
		{1000 * ms, "...x"},
		{2000 * ms, ".....t"},
		{time.Hour, ".....x"}, // no more than a second's worth after any time
	} {
		if got := pattern(table, 77<<50, step.at, time.Second/5, 2, len(step.want)); got != step.want {
			t.Errorf("at %v: %s, want %s", step.at, got, step.want)
		}
	}
}

// However long nobody asked, also when the bucket's short clock has gone round, the next who asks is answered.
func TestBucketForgets(t *testing.T) {
	for _, pause := range []time.Duration{time.Second, time.Minute, 36 * time.Minute, 37 * time.Minute, 72 * time.Minute, 75 * time.Minute, 1000 * time.Hour} {
		table := newBucketTable(8)
		if got := pattern(table, 1, time.Second, time.Second/2, 0, 3); got != "..x" {
			t.Fatal(got)
		}
		if got := pattern(table, 1, time.Second+pause, time.Second/2, 0, 3); got != "..x" {
			t.Errorf("%v later: %s", pause, got)
		}
	}
}

func TestBucketSlip(t *testing.T) {
	for slip, want := range []string{".xxxxxxx", ".ttttttt", ".xtxtxtx", ".xxtxxtx", ".xxxtxxx", 10: ".xxxxxxxxxtxxxxxxxxxt", 15: ".xxxxxxxxxxxxxxtx"} {
		if got := pattern(newBucketTable(8), 5<<46, 0, time.Second, slip, len(want)); want != "" && got != want {
			t.Errorf("slip %d: %s, want %s", slip, got, want)
		}
	}
}

// Every rate gives as many answers as it says, within the first second at once and within ten seconds of steady asking.
func TestBucketRates(t *testing.T) {
	for _, rate := range []int{1, 2, 3, 7, 10, 99, 200, 1000, 30000} {
		table, cost, got := newBucketTable(8), time.Second/time.Duration(rate), 0
		for range rate + 1000 {
			if over, _ := table.take(9, 0, int64(cost), 2); !over {
				got++
			}
		}
		if got != rate {
			t.Errorf("%d at once for a rate of %d", got, rate)
		}
		for now := clockStep; now <= 10*time.Second; now += clockStep {
			for range rate/4 + 2 {
				if over, _ := table.take(9, int64(now), int64(cost), 2); !over {
					got++
				}
			}
		}
		if got < 11*rate-1 || got > 11*rate+11*rate/10000 {
			t.Errorf("%d in 10 s after the burst, for a rate of %d", got, rate)
		}
	}
}

func TestBucketTableSizes(t *testing.T) {
	for size, want := range map[int]int{0: 1, 1: 1, 8: 1, 9: 2, 16: 2, 17: 4, 1000: 128, 1 << 19: 1 << 16} {
		if got := len(newBucketTable(size)); got != want {
			t.Errorf("%d buckets: %d sets, want %d", size, got, want)
		}
	}
}

// A flood of other keys neither frees the one that is limited nor limits those that ask within their rate.
func TestBucketFlood(t *testing.T) {
	table := newBucketTable(1 << 10)
	random := rand.New(rand.NewPCG(1, 2))
	const victim, honest = 0x1234567890abcdef, 0xfedcba0987654321
	answered, refused := 0, 0
	for ms := range 10_000 { // 50 others, the victim ten times and the honest one 1/50 times a millisecond
		now := int64(ms/50*50) * int64(time.Millisecond)
		for range 50 {
			table.take(random.Uint64(), now, int64(time.Second/20), 2)
		}
		for range 10 {
			if over, _ := table.take(victim, now, int64(time.Second/20), 2); !over {
				answered++
			}
		}
		if ms%50 == 0 {
			if over, _ := table.take(honest, now, int64(time.Second/20), 2); over {
				refused++
			}
		}
	}
	if answered > 11*20 {
		t.Errorf("the limited key had %d answers in 10 s at a rate of 20", answered)
	}
	if refused > 0 {
		t.Errorf("the honest key was refused %d of 200 times at just its rate", refused)
	}
}

// Any number of goroutines share a bucket: together they get what one would.
func TestBucketShared(t *testing.T) {
	table := newBucketTable(8)
	var got, slipped atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5000 {
				over, slips := table.take(3<<50, 0, int64(time.Second/1000), 4)
				if !over {
					got.Add(1)
				} else if slips {
					slipped.Add(1)
				}
			}
		})
	}
	all.Wait()
	if got.Load() != 1000 || slipped.Load() != 39000/4 {
		t.Errorf("%d answers and %d slipped, want 1000 and %d", got.Load(), slipped.Load(), 39000/4)
	}
}
