package main_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestNifcloudTiming runs examples/nifcloud as it stands, in virtual time:
// rounds 5 minutes apart, three tries of 5 s, and no switch when all is down.
func TestNifcloudTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := startVendor(t, "nifcloud", nil)
		const primary, second, third = "192.0.2.10", "198.51.100.10", "203.0.113.10"

		// Every probe has its second round half an interval after its first.
		v.expect(t, 0, www, primary)
		v.set(primary, silent())
		v.expect(t, 165*time.Second-1, www, primary)
		v.expect(t, 165*time.Second, www, second+" "+third)
		if got, want := len(v.triesSince(primary, 150*time.Second)), 3; got != want {
			t.Errorf("%d tries before %s was down, want %d", got, primary, want)
		}

		// The secondaries passed at 150 s; their next rounds begin at 450 s.
		v.set(second, silent())
		v.expect(t, 465*time.Second, www, third)
		v.set(third, silent()) // found at 765 s
		v.expect(t, 779*time.Second, www, third)

		// The primary's rounds ended at 165 and 480 s; the next begins at 780 s.
		v.set(primary, replies(0))
		v.expect(t, 780*time.Second-1, www, third)
		v.expect(t, 780*time.Second, www, primary)
	})
}
