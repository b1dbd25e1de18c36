package main_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gslbd/health/probe"
)

// TestFrontDoorSharedProbe runs examples/front-door as it stands, in virtual
// time: an origin of two groups is probed once, at the lower interval, and the
// result counts for both.
func TestFrontDoorSharedProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const origin, only = "192.0.2.10", "192.0.2.11" // in two groups, in one
		const api = "api.gslb.example.com"
		v := startVendor(t, "front-door", nil)
		v.expect(t, time.Hour, www, origin+" "+only)
		if a, b := len(v.triesSince(origin, 0)), len(v.triesSince(only, 0)); a != b || a != 1+120 {
			t.Errorf("%d and %d probes in an hour, want 121: at once, after 15 s, then every 30 s", a, b)
		}
		v.set(origin, refuses()) // rounds at 3615 and 3645 s
		v.expect(t, 3645*time.Second-1, www, origin+" "+only)
		v.expect(t, 3645*time.Second-1, api, origin)
		v.expect(t, 3645*time.Second, www, only)
		v.expect(t, 3645*time.Second, api, "198.51.100.10")
	})
}

// TestFrontDoorSamples: an origin is healthy while 3 of its last 4 probes
// passed, whatever their order.
func TestFrontDoorSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const origin, other = "192.0.2.10", "192.0.2.11"
		const both = origin + " " + other
		samples := "+++-+++--++-+++-"
		v := startVendor(t, "front-door", map[string]server{origin: func(_ context.Context, n int) probe.Result {
			if n <= len(samples) && samples[n-1] == '-' {
				return probe.Result{Outcome: probe.Fail, Reason: "status 404, want 200"}
			}
			return probe.Result{Outcome: probe.Pass}
		}})
		for i := range samples {
			at := time.Duration(0)
			if i > 0 {
				at = time.Duration(i)*30*time.Second - 15*time.Second
			}
			passes := 0
			for _, s := range samples[max(0, i-3) : i+1] {
				if s == '+' {
					passes++
				}
			}
			want := both
			if i > 2 && passes < 3 {
				want = other
			}
			v.expect(t, at, www, want)
		}
	})
}

// TestFrontDoorTiming: 4−3+1 = 2 failures turn an origin down, which two probes
// of 5 s and a pause of 30 s take.
func TestFrontDoorTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := startVendor(t, "front-door", nil)
		v.wait(10 * time.Minute)
		if got, want := v.declared(t, www, "192.0.2.10", silent()), 40*time.Second; got != want {
			t.Errorf("down after %s, want %s", got, want)
		}
		// Three passes, 1 s each, until three of the last four are passes.
		if got, want := v.declared(t, www, "192.0.2.10", replies(time.Second)), 63*time.Second; got != want {
			t.Errorf("up after %s, want %s", got, want)
		}
	})
}

// TestFrontDoorAllFailed: all enabled origins of all priorities are answered,
// and things are normal again as one recovers. A disabled origin never is.
func TestFrontDoorAllFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const one, two, three, disabled = "192.0.2.10", "192.0.2.11", "198.51.100.10", "203.0.113.10"
		v := startVendor(t, "front-door", nil)
		v.expect(t, time.Minute, www, one+" "+two)
		for _, addr := range []string{one, two} {
			v.set(addr, refuses())
		}
		v.expect(t, 5*time.Minute, www, three)
		v.set(three, refuses())
		v.expect(t, 10*time.Minute, www, one+" "+two+" "+three)
		v.set(three, replies(0))
		v.expect(t, 15*time.Minute, www, three)
		v.set(one, replies(0))
		v.expect(t, 20*time.Minute, www, one)
		v.expect(t, 20*time.Minute, "one.gslb.example.com", "192.0.2.40")
		if tries := v.triesSince("192.0.2.40", 0); len(tries) > 0 {
			t.Errorf("probed %d times, though its probe is switched off", len(tries))
		}
		v.set(disabled, refuses())
		v.expect(t, 25*time.Minute, www, one)
	})
}
