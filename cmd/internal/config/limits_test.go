package config

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLimits(t *testing.T) {
	c := mustLoad(t, oneZone+`
tcp: { max_connections: 20, max_connections_per_client: 3, max_queries: 4, idle_timeout: 1m, message_timeout: 100ms }
rate_limit:
  responses_per_second: 50
  errors_per_second: 5
  slip: 0
  ipv4_prefix: 32
  ipv6_prefix: 64
  table_size: 16777216
  exempt: [ 192.0.2.0/24, "2001:DB8::1", 10.0.0.0/8 ]
  log_only: true
`)
	if diff := cmp.Diff(TCP{20, 3, 4, time.Minute, 100 * time.Millisecond}, c.TCP); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	exempt := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::1/128"), netip.MustParsePrefix("10.0.0.0/8")}
	want := RateLimit{50, 5, 0, 32, 64, 1 << 24, exempt, true}
	if diff := cmp.Diff(want, c.RateLimit, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := c.Changed(mustLoad(t, oneZone)); strings.Contains(fmt.Sprint(got), "tcp") || strings.Contains(fmt.Sprint(got), "rate") {
		t.Errorf("%v are said to need a restart", got)
	}
}

// TestEverythingLimits has the file that holds every key leave none of these at its default.
func TestEverythingLimits(t *testing.T) {
	c, problems := Load("../../../testdata/config/valid/everything.yaml")
	if problems != nil {
		t.Fatal(problems.Error())
	}
	got, dull := fmt.Sprintf("%+v %+v", c.TCP, c.RateLimit), fmt.Sprintf("%+v %+v", defaultTCP(), defaultRateLimit())
	same := strings.Fields(dull)
	for i, value := range strings.Fields(got) {
		if i < len(same) && value == same[i] {
			t.Errorf("%s is the default", value)
		}
	}
}

// TestRateLimitIdle warns of a section that does nothing, unless it says so itself.
func TestRateLimitIdle(t *testing.T) {
	const idle = "f:2: warning: rate_limit: without responses_per_second nothing is limited\n  hint: 200 suits most servers; 0 says that no limit is meant"
	for text, want := range map[string]string{
		"rate_limit: { slip: 3 }":                                idle,
		"rate_limit: { log_only: true }":                         idle,
		"rate_limit: { responses_per_second: 0, slip: 3 }":       "",
		"rate_limit: { responses_per_second: 10 }":               "",
		"rate_limit: { responses_per_second: 10, exempt: [  ] }": "",
	} {
		if got := faults(t, oneZone+text+"\n"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	t.Setenv("GSLBD_RATE_LIMIT_RESPONSES_PER_SECOND", "10")
	if got := faults(t, oneZone+"rate_limit: { slip: 3 }\n"); got != "" {
		t.Errorf("with a rate from the environment: %q", got)
	}
}

// TestExemptBounded takes as many networks as may be compared for each query.
func TestExemptBounded(t *testing.T) {
	networks := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("10.0.%d.0/24", i))
		}
		return oneZone + "rate_limit: { responses_per_second: 1, exempt: [ " + strings.Join(list, ", ") + " ] }\n"
	}
	if c := mustLoad(t, networks(100)); len(c.RateLimit.Exempt) != 100 {
		t.Errorf("%d networks", len(c.RateLimit.Exempt))
	}
	const want = "f:2: rate_limit.exempt: 101 networks\n  hint: at most 100: each one costs every query a comparison"
	if got := faults(t, networks(101)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
