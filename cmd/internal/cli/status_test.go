package cli

import (
	"bytes"
	"testing"
	"time"

	"gslbd/cmd/internal/admin"
)

// TestPrintStatus: trouble comes first, and every line tells the whole story.
func TestPrintStatus(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	status := troubled(now)
	var out bytes.Buffer
	s := &shell{stdout: &out}
	s.printStatus(status, now)
	want := `gslbd v1.2.3 on ns1, up 26h00m, ready: 3 groups (1 critical, 1 degraded, 1 healthy) in 1 zone
zone example.com: changed on disk
  what was loaded before, serial 7, is still served

GROUP, MEMBER            STATE              POOL       ANSWER, TARGET                                      SINCE   LAST PROBE  WHY
off.example.com/A        critical           -          -                                                   -                   nothing is up
www.example.com/A        degraded           secondary  198.51.100.10                                       12s                 primary is down
  tokyo (192.0.2.10)     down, forced-down  primary    192.0.2.10:80                                       12s     1.5s ago    web: status 503; ping: no reply; db 192.0.2.10:5432: connect: connection refused
  osaka (198.51.100.10)  up                 secondary  198.51.100.10:80                                    1h00m   1s ago
  kyoto (198.51.100.11)  up, drained        secondary  -                                                   1h00m   -
ok.example.com/A         healthy            primary    192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 and 2 more  25h00m              fine
  192.0.2.1              up                 primary    192.0.2.1:80                                        25h00m  3s ago

ZONE         SERIAL  LOADED
example.com  7       1m00s ago
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}

	out.Reset()
	s.printStatus(admin.Status{Version: "v1", Node: "n", Started: now}, now)
	if want := "gslbd v1 on n, up 0s, not ready: 0 groups in 0 zones\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// troubled is a status with something of everything.
func troubled(now time.Time) admin.Status {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	check := func(name, state, err string, last time.Duration) admin.CheckStatus {
		target := map[string]string{"web": "192.0.2.10:80", "ping": "192.0.2.10"}[name]
		return admin.CheckStatus{Name: name, Target: target, State: state, Error: err, LastProbe: ago(last)}
	}
	return admin.Status{
		Version: "v1.2.3", Node: "ns1", Started: ago(26 * time.Hour), Ready: true,
		Groups: []admin.GroupStatus{
			{Name: "ok.example.com", Type: "A", State: "healthy", Pool: "primary", Since: ago(25 * time.Hour), Reason: "fine",
				Answer: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6"},
				Pools: []admin.PoolStatus{{Name: "primary", Members: []admin.MemberStatus{
					{ID: "192.0.2.1", Data: "192.0.2.1", Target: "192.0.2.1:80", Weight: 1, State: "up", Since: ago(25 * time.Hour),
						Checks: []admin.CheckStatus{check("web", "up", "", 3*time.Second)}},
				}}}},
			{Name: "www.example.com", Type: "A", State: "degraded", Pool: "secondary", Since: ago(12 * time.Second), Reason: "primary is down",
				Answer: []string{"198.51.100.10"},
				Pools: []admin.PoolStatus{
					{Name: "secondary", Members: []admin.MemberStatus{
						{ID: "osaka", Data: "198.51.100.10", Target: "198.51.100.10:80", Weight: 1, State: "up", Since: ago(time.Hour),
							Checks: []admin.CheckStatus{check("web", "up", "", time.Second), check("ping", "up", "", 2*time.Second)}},
						{ID: "kyoto", Data: "198.51.100.11", State: "up", Since: ago(time.Hour)},
					}},
					{Name: "primary", Members: []admin.MemberStatus{
						{ID: "tokyo", Data: "192.0.2.10", Target: "192.0.2.10:80", Weight: 1, State: "down", Since: ago(12 * time.Second),
							Override: &admin.OverrideStatus{Value: "forced-down"},
							Checks: []admin.CheckStatus{check("web", "down", "status 503", 1500*time.Millisecond), check("ping", "down", "no reply", 4*time.Second),
								{Name: "db", Target: "192.0.2.10:5432", State: "down", Error: "connect: connection refused"}}},
					}},
				}},
			{Name: "off.example.com", Type: "A", State: "critical", Reason: "nothing is up"},
		},
		Zones: []admin.ZoneStatus{{Name: "example.com", Serial: 7, Loaded: ago(time.Minute), Problem: "changed on disk"}},
	}
}
