package main_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestGlobalAcceleratorTiming runs examples/global-accelerator as it stands, in
// virtual time: 3×3 + 2×2 = 13 s down, and with replies after 1 s 1×3 + 2×2 = 7 s up.
func TestGlobalAcceleratorTiming(t *testing.T) {
	for name, endpoints := range map[string][2]string{
		"www":   {"198.51.100.10", "192.0.2.10"},
		"shop":  {"198.51.100.20", "192.0.2.20"},
		"db":    {"198.51.100.30", "192.0.2.30"},
		"voice": {"198.51.100.40", "192.0.2.40"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				second, first := endpoints[0], endpoints[1]
				v := startVendor(t, "global-accelerator", map[string]server{
					first: replies(time.Second), "192.0.2.11": silent(),
				})
				name += ".gslb.example.com"
				v.expect(t, time.Minute, name, first)
				if got, want := v.declared(t, name, first, silent()), 13*time.Second; got != want {
					t.Errorf("down after %s, want %s", got, want)
				}
				v.expect(t, 2*time.Minute, name, second)
				if got, want := v.declared(t, name, first, replies(time.Second)), 7*time.Second; got != want {
					t.Errorf("up after %s, want %s", got, want)
				}
				// RST and another status fail at once: three rounds without their 3 s.
				if got, want := v.declared(t, name, first, refuses()), 4*time.Second; got != want {
					t.Errorf("refused: down after %s, want %s", got, want)
				}
			})
		})
	}
}

// TestGlobalAcceleratorThreshold: two failures, and two passes, change nothing.
func TestGlobalAcceleratorThreshold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const endpoint, other = "192.0.2.10", "192.0.2.11"
		v := startVendor(t, "global-accelerator", nil)
		v.expect(t, 10*time.Second-1, www, endpoint+" "+other) // rounds at 0, 1, 3, 5 … s
		v.set(endpoint, refuses())
		v.wait(13*time.Second + 1) // 11 and 13 s
		v.set(endpoint, replies(0))
		v.expect(t, 17*time.Second+1, www, endpoint+" "+other) // 15 and 17 s
		v.set(endpoint, refuses())
		v.expect(t, 23*time.Second-1, www, endpoint+" "+other) // 19 and 21 s
		v.expect(t, 23*time.Second, www, other)
		v.set(endpoint, replies(0))
		v.wait(27*time.Second + 1) // 25 and 27 s
		v.set(endpoint, refuses())
		v.wait(29*time.Second + 1)
		v.set(endpoint, replies(0))
		v.expect(t, 35*time.Second-1, www, other) // 31 and 33 s
		v.expect(t, 35*time.Second, www, endpoint+" "+other)
	})
}
