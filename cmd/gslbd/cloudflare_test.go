package main_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslbd/health/probe"
)

const (
	tokyo1, tokyo2, tokyo3 = "192.0.2.10", "192.0.2.11", "192.0.2.12"
	osaka, sapporo         = "198.51.100.10", "203.0.113.10"
	rescue                 = "203.0.113.80"
)

// TestCloudflareTiming runs examples/cloudflare as it stands, in virtual time: a
// round is three tries of 5 s, two rounds 60 s apart are down, three up.
func TestCloudflareTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := startVendor(t, "cloudflare", nil)
		v.wait(time.Minute)
		from := time.Since(v.start)
		if got, want := v.declared(t, www, tokyo1, silent()), 2*15*time.Second+time.Minute; got != want {
			t.Errorf("down after %s, want %s", got, want)
		}
		if tries := v.triesSince(tokyo1, from); len(tries) != 6 {
			t.Errorf("%d tries, want 2 rounds of 3: %v", len(tries), tries)
		}
		if got, want := v.declared(t, www, tokyo1, replies(time.Second)), 3*time.Second+2*time.Minute; got != want {
			t.Errorf("up after %s, want %s", got, want)
		}
	})
}

// TestCloudflareRetries: a round in which the last retry passes is a passed one,
// and one that passes sets the count of failures back.
func TestCloudflareRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := strings.Join([]string{tokyo1, tokyo2, tokyo3}, " ")
		failsUnless := func(pass func(n int) bool) server {
			return func(_ context.Context, n int) probe.Result {
				if pass(n) {
					return probe.Result{Outcome: probe.Pass}
				}
				return probe.Result{Outcome: probe.Fail, Reason: "status 503, want 200 or 204"}
			}
		}
		v := startVendor(t, "cloudflare", map[string]server{
			tokyo1: failsUnless(func(n int) bool { return n%3 == 0 }),                    // the second retry
			tokyo2: failsUnless(func(n int) bool { return n%4 == 1 }),                    // every other round
			tokyo3: failsUnless(func(n int) bool { return n == 1 || n > 7 && n%4 == 0 }), // twice, then every other
		})
		v.expect(t, 0, www, all)
		v.expect(t, 90*time.Second-1, www, all)             // rounds at 0 and 30 s
		v.expect(t, 90*time.Second, www, tokyo1+" "+tokyo2) // tokyo-3 down by 30 and 90 s
		v.expect(t, time.Hour, www, tokyo1+" "+tokyo2)      // never three passes in a row
		if n := len(v.triesSince(tokyo1, 0)); n != 3*61 {   // 0, 30 s, then each minute
			t.Errorf("%d tries of tokyo-1, want 61 rounds of 3", n)
		}
	})
}

// TestCloudflareStates: states of members, pools and the name, and where the
// traffic goes, with pools tried in order.
func TestCloudflareStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := startVendor(t, "cloudflare", map[string]server{
			tokyo1: silent(), tokyo2: silent(), tokyo3: silent(), osaka: silent(), sapporo: silent(),
		})
		// No result yet: unknown, and answered.
		v.expectStates(t, "degraded tokyo: tokyo unknown, osaka unknown, sapporo unknown, rescue no-health")
		v.wait(20 * time.Second) // the first round decides alone
		v.expectStates(t, "critical rescue: tokyo critical, osaka critical, sapporo critical, rescue no-health")
		if got := v.last(www).data; got != rescue {
			t.Errorf("answered %s", got)
		}
		for _, step := range []struct{ down, want, answer string }{
			{"", "healthy tokyo: tokyo healthy, osaka healthy, sapporo healthy, rescue no-health", tokyo1 + " " + tokyo2 + " " + tokyo3},
			{tokyo1, "degraded tokyo: tokyo degraded, osaka healthy, sapporo healthy, rescue no-health", tokyo2 + " " + tokyo3},
			// Below the threshold the whole pool takes no traffic.
			{tokyo1 + " " + tokyo2, "degraded osaka: tokyo critical, osaka healthy, sapporo healthy, rescue no-health", osaka},
			// An unhealthy pool that is not active is skipped.
			{tokyo1 + " " + tokyo2 + " " + osaka, "degraded sapporo: tokyo critical, osaka critical, sapporo healthy, rescue no-health", sapporo},
			{osaka, "healthy tokyo: tokyo healthy, osaka critical, sapporo healthy, rescue no-health", tokyo1 + " " + tokyo2 + " " + tokyo3},
			{tokyo1 + " " + tokyo2 + " " + osaka + " " + sapporo, "critical rescue: tokyo critical, osaka critical, sapporo critical, rescue no-health", rescue},
			{"", "healthy tokyo: tokyo healthy, osaka healthy, sapporo healthy, rescue no-health", tokyo1 + " " + tokyo2 + " " + tokyo3},
		} {
			for _, addr := range []string{tokyo1, tokyo2, tokyo3, osaka, sapporo} {
				v.set(addr, replies(0))
				if strings.Contains(step.down, addr) {
					v.set(addr, refuses())
				}
			}
			v.wait(time.Since(v.start) + 4*time.Minute)
			v.expectStates(t, step.want)
			if got := v.last(www).data; got != step.answer {
				t.Errorf("with %q down: answered %s, want %s", step.down, got, step.answer)
			}
		}
		if tries := v.triesSince(rescue, 0); len(tries) > 0 {
			t.Errorf("the fallback pool was probed %d times", len(tries))
		}
	})
}

// expectStates compares the states of the name and its pools.
func (v *vendor) expectStates(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	for _, g := range v.engine.Status().Groups {
		if g.Name != www {
			continue
		}
		var pools []string
		for _, p := range g.Pools {
			pools = append(pools, p.Name+" "+p.State)
		}
		if got := fmt.Sprintf("%s %s: %s", g.State, g.Pool, strings.Join(pools, ", ")); got != want {
			t.Errorf("after %s: %s\nwant %s", time.Since(v.start), got, want)
		}
	}
}
