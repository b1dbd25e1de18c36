package main_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestEdgeOneTiming runs examples/edgeone as it stands, in virtual time: the
// published example (75 s and 63 s), the default thresholds of 2 and 3, and the
// least and most that can be set.
func TestEdgeOneTiming(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name, addr, other string
		down, refused, up time.Duration
	}{
		{"www", "192.0.2.10", "198.51.100.10", (5 + 30 + 5 + 30 + 5) * s, (30 + 30) * s, (1 + 30 + 1 + 30 + 1) * s},
		{"api", "192.0.2.11", "198.51.100.11", 75 * s, 60 * s, 63 * s},
		{"old", "192.0.2.12", "198.51.100.12", 75 * s, 60 * s, 63 * s},
		{"shop", "192.0.2.13", "198.51.100.13", 75 * s, 60 * s, 63 * s},
		{"tcp", "192.0.2.20", "198.51.100.20", (5 + 30 + 5) * s, 30 * s, 63 * s},
		{"game", "192.0.2.21", "198.51.100.21", 40 * s, 30 * s, 63 * s},
		{"ping", "192.0.2.22", "198.51.100.22", 40 * s, 30 * s, 63 * s},
		{"fast", "192.0.2.30", "198.51.100.30", 1 * s, 0, 1*s - 1},
		{"slow", "192.0.2.31", "198.51.100.31", (5*30 + 4*600) * s, 4 * 600 * s, (5*1 + 4*600) * s},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				replyTime := min(time.Second, c.up)
				v := startVendor(t, "edgeone", map[string]server{c.addr: replies(replyTime)})
				name := c.name + ".gslb.example.com"
				v.expect(t, time.Hour, name, c.addr)
				if got := v.declared(t, name, c.addr, silent()); got != c.down {
					t.Errorf("unhealthy after %s, want %s", got, c.down)
				}
				if got := v.last(name).data; got != c.other {
					t.Errorf("answered %s, want %s", got, c.other)
				}
				if got := v.declared(t, name, c.addr, replies(replyTime)); got != c.up {
					t.Errorf("healthy after %s, want %s", got, c.up)
				}
				if got := v.declared(t, name, c.addr, refuses()); got != c.refused {
					t.Errorf("refused: unhealthy after %s, want %s", got, c.refused)
				}
			})
		})
	}
}

// TestEdgeOneSuccessResets: failures count only in a row.
func TestEdgeOneSuccessResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const origin, other = "192.0.2.10", "198.51.100.10"
		v := startVendor(t, "edgeone", nil)
		rounds := "++--+--+---" // at 0, 15, 45, 75 … s
		for i, sample := range rounds {
			v.set(origin, replies(0))
			if sample == '-' {
				v.set(origin, refuses())
			}
			want := origin
			if i == len(rounds)-1 {
				want = other
			}
			at := time.Duration(0)
			if i > 0 {
				at = time.Duration(i)*30*time.Second - 15*time.Second
			}
			v.expect(t, at, www, want)
		}
	})
}
