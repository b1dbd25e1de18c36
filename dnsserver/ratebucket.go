package dnsserver

import (
	"math"
	"sync/atomic"
	"time"
)

// A bucket is one word, so that any number of goroutines share the table without locks:
//
//	18 bits  tag: part of the key's hash
//	 4 bits  answers over the limit since the last that slipped
//	42 bits  the time at which the bucket is full again, in nanoseconds, modulo 73 minutes
//
// A full bucket holds one second. Each answer takes the time from it that lies between two answers at the rate allowed, and time itself
// fills it. A time more than a second ahead is one from long ago.
const (
	timeBits = 42
	slipBits = 4
	tagShift = timeBits + slipBits

	timeMask = 1<<timeBits - 1
	slipMask = 1<<slipBits - 1

	second = time.Second
)

// bucketSet is a cache line of buckets. A key may be in any of its set, and takes the place of the one that is fullest: a flood of other
// keys, each asking once, does not drive out one that is near its limit.
type bucketSet [8]atomic.Uint64

// bucketTable holds the buckets. It neither grows nor allocates.
type bucketTable []bucketSet

// newBucketTable makes a table of at least size buckets.
func newBucketTable(size int) bucketTable {
	sets := 1
	for sets*len(bucketSet{}) < size {
		sets *= 2
	}
	return make(bucketTable, sets)
}

// owed tells how far the bucket is from full at a time: 0 or less for a full one.
func owed(word uint64, now int64) int64 {
	const unused = 64 - timeBits
	if d := int64((word-uint64(now))<<unused) >> unused; d <= int64(second) {
		return d
	}
	return math.MinInt64
}

// find gives the place of the key with that tag, or else the place that it is to take.
func (s *bucketSet) find(tag uint64, now int64) (i int, word uint64, found bool) {
	least := int64(math.MaxInt64)
	for k := range s {
		w := s[k].Load()
		if w>>tagShift == tag {
			return k, w, true
		}
		if d := owed(w, now); d < least {
			i, word, least = k, w, d
		}
	}
	return i, word, false
}

// take takes an answer's cost out of the bucket of a key. It tells whether there was too little, and then whether the answer is the one in
// slip that goes out truncated.
func (t bucketTable) take(hash uint64, now, cost int64, slip int) (over, slips bool) {
	set := &t[hash&uint64(len(t)-1)]
	tag := hash >> tagShift
	for {
		i, word, found := set.find(tag, now)
		next, debt := tag<<tagShift, int64(0)
		if found {
			next, debt = word&^timeMask, max(0, owed(word, now))
		}
		if over = debt+cost > int64(second); !over {
			next |= uint64(now+debt+cost) & timeMask
		} else {
			if slip < 2 {
				return true, slip == 1
			}
			n := word>>timeBits&slipMask + 1
			if slips = n >= uint64(slip); slips {
				n = 0
			}
			next = word&^(slipMask<<timeBits) | n<<timeBits
		}
		if set[i].CompareAndSwap(word, next) { // else somebody else was faster, so the table as a whole moves on
			return over, slips
		}
	}
}
