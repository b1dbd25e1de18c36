package config

import (
	"net/netip"
	"testing"
	"time"

	"gslbd/health/probe"

	"github.com/google/go-cmp/cmp"
)

// loadCheck loads one check called "c" with the given options.
func loadCheck(t *testing.T, options string) probe.Check {
	t.Helper()
	return mustLoad(t, oneZone+"checks:\n  c: { "+options+" }\n").Checks["c"]
}

// addrs lets cmp compare addresses.
func addrs() cmp.Option { return cmp.Comparer(func(a, b netip.Addr) bool { return a == b }) }

func TestCheckCommon(t *testing.T) {
	base := loadCheck(t, "type: icmp")
	want := probe.Check{Name: "c", Type: "icmp", Interval: 10 * time.Second, Timeout: 5 * time.Second, Fall: 2, Rise: 3,
		ICMP: &probe.ICMP{Count: 1, Size: 24}}
	if diff := cmp.Diff(want, base); diff != "" {
		t.Fatalf("defaults: -want +got:\n%s", diff)
	}
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	for options, edit := range map[string]func(*probe.Check){
		"interval: 100ms":                            func(c *probe.Check) { c.Interval = 100 * time.Millisecond },
		"interval: 24h":                              func(c *probe.Check) { c.Interval = 24 * time.Hour },
		"interval: 1h30m":                            func(c *probe.Check) { c.Interval = 90 * time.Minute },
		"Interval: 5m":                               func(c *probe.Check) { c.Interval = 5 * time.Minute },
		"timeout: 10ms":                              func(c *probe.Check) { c.Timeout = 10 * time.Millisecond },
		"timeout: 5m0s":                              func(c *probe.Check) { c.Timeout = 5 * time.Minute },
		"retries: 10":                                func(c *probe.Check) { c.Retries = 10 },
		"retries: 0":                                 func(*probe.Check) {},
		"fall: 1, rise: 100":                         func(c *probe.Check) { c.Fall, c.Rise = 1, 100 },
		"window: { size: 100, required: 100 }":       func(c *probe.Check) { c.Fall, c.Rise, c.Window = 0, 0, &probe.Window{Size: 100, Required: 100} },
		"window: { size: 1, required: 1 }":           func(c *probe.Check) { c.Fall, c.Rise, c.Window = 0, 0, &probe.Window{Size: 1, Required: 1} },
		"source: 192.0.2.1":                          func(c *probe.Check) { c.Source = []netip.Addr{v4} },
		`source: "2001:db8::1"`:                      func(c *probe.Check) { c.Source = []netip.Addr{v6} },
		`source: [ "::ffff:192.0.2.1" ]`:             func(c *probe.Check) { c.Source = []netip.Addr{v4} },
		`source: "2001:db8::1, 192.0.2.1"`:           func(c *probe.Check) { c.Source = []netip.Addr{v6, v4} },
		`source: [ 192.0.2.1, "2001:db8::1" ]`:       func(c *probe.Check) { c.Source = []netip.Addr{v4, v6} },
		"count: 10, size: 1400":                      func(c *probe.Check) { c.ICMP = &probe.ICMP{Count: 10, Size: 1400} },
		"count: 1, size: 24, interval: !!str 1000ms": func(c *probe.Check) { c.ICMP.Size, c.Interval = 24, time.Second },
		"fall: 0x10, rise: 1_0":                      func(c *probe.Check) { c.Fall, c.Rise = 16, 10 },
	} {
		want := loadCheck(t, "type: icmp")
		edit(&want)
		if diff := cmp.Diff(want, loadCheck(t, "type: ICMP, "+options), addrs()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
	}
}

func TestCheckTCP(t *testing.T) {
	for options, want := range map[string]probe.TCP{
		"":                         {Port: 80},
		"port: 1":                  {Port: 1},
		"port: 65535":              {Port: 65535},
		"expect: 220":              {Port: 80, Expect: []byte("220")},
		"expect: true":             {Port: 80, Expect: []byte("true")},
		`send: "PING\r\n"`:         {Port: 80, Send: []byte("PING\r\n")},
		`send: 'PING\r\n'`:         {Port: 80, Send: []byte(`PING\r\n`)},
		`send: "hex:00 ff0D0a"`:    {Port: 80, Send: []byte{0, 0xff, 0x0d, 0x0a}},
		"send: a b, expect: +PONG": {Port: 80, Send: []byte("a b"), Expect: []byte("+PONG")},
	} {
		got := loadCheck(t, "type: tcp, "+options)
		if diff := cmp.Diff(&want, got.TCP); diff != "" {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
		if got.HTTP != nil || got.ICMP != nil {
			t.Errorf("%s: options of another type", options)
		}
	}
}

// TestAliases has anchors, aliases and merge keys work as YAML defines them.
func TestAliases(t *testing.T) {
	c := mustLoad(t, oneZone+`
checks:
  slow: &slow { type: http, interval: 1m, timeout: 20s, path: /slow }
  same: *slow
  quick:
    <<: *slow
    timeout: 1s
  both:
    <<: [ { path: /both, retries: 1 }, *slow ]
  upper:
    Path: /upper
    <<: *slow
`)
	type row struct {
		interval, timeout time.Duration
		path              string
		retries           int
	}
	got := map[string]row{}
	for name, check := range c.Checks {
		got[name] = row{check.Interval, check.Timeout, check.HTTP.Path, check.Retries}
	}
	want := map[string]row{
		"slow":  {time.Minute, 20 * time.Second, "/slow", 0},
		"same":  {time.Minute, 20 * time.Second, "/slow", 0},
		"quick": {time.Minute, time.Second, "/slow", 0},
		"both":  {time.Minute, 20 * time.Second, "/both", 1},
		"upper": {time.Minute, 20 * time.Second, "/upper", 0},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if c.Checks["same"].HTTP == c.Checks["slow"].HTTP {
		t.Error("two checks share their options")
	}
}

// TestCheckTables holds every type to be sound: a name of its own for each
// option.
func TestCheckTables(t *testing.T) {
	for _, typ := range checkTypes() {
		seen := map[string]bool{}
		c := probe.Check{}
		for _, o := range append(commonOptions(&c, &probe.Window{}), typ.options(&c)...) {
			if seen[o.name] || o.name == "" || o.set == nil && o.sub == nil && !o.none {
				t.Errorf("%s: option %q is unsound", typ.name, o.name)
			}
			seen[o.name] = true
		}
	}
}

// TestRanges loads both ends of every range that the documentation names, and
// the values just outside.
func TestRanges(t *testing.T) {
	for _, row := range []struct{ typ, option, below, low, high, above, hint string }{
		{"icmp", "interval", "99ms", "100ms", "24h", "24h1s", "100ms to 24h"},
		{"icmp", "timeout", "9ms", "10ms", "5m", "5m1s", "10ms to 5m"},
		{"icmp", "retries", "-1", "0", "10", "11", "0 to 10"},
		{"icmp", "fall", "0", "1", "100", "101", "1 to 100"},
		{"icmp", "rise", "0", "1", "100", "101", "1 to 100"},
		{"icmp", "count", "0", "1", "10", "11", "1 to 10"},
		{"icmp", "size", "23", "24", "1400", "1401", "24 to 1400"},
		{"tcp", "port", "0", "1", "65535", "65536", "1 to 65535"},
		{"grpc", "port", "0", "1", "65535", "65536", "1 to 65535"},
		{"http", "port", "0", "1", "65535", "70000", "1 to 65535"},
		{"tls", "port", "0", "1", "65535", "65536", "1 to 65535"},
		{"tls", "min_days", "-1", "0", "3650", "3651", "0 to 3650"},
		{"udp", "port", "0", "1", "65535", "65536", "1 to 65535"},
		{"dns", "port", "0", "1", "65535", "65536", "1 to 65535"},
		{"http", "redirects", "-1", "0", "10", "11", "0 to 10"},
	} {
		text := func(value string) string {
			return oneZone + "checks:\n  c:\n    type: " + row.typ + "\n    " + row.option + ": " + value + "\n"
		}
		for _, value := range []string{row.low, row.high} {
			if got := faults(t, text(value)); got != "" {
				t.Errorf("%s.%s: %s: got %q", row.typ, row.option, value, got)
			}
		}
		for _, value := range []string{row.below, row.above} {
			want := "f:5: checks.c." + row.option + ": " + value + " is out of range\n  hint: " + row.hint
			if got := faults(t, text(value)); got != want {
				t.Errorf("%s.%s: got %q, want %q", row.typ, row.option, got, want)
			}
		}
	}
}

// TestSeveralFaults has one run report every mistake, each on its own line.
func TestSeveralFaults(t *testing.T) {
	got := faults(t, `zones:
  - name: a.example
    file: a.zone
  - name: a..example
    file: b.zone
checks:
  web:
    type: http
    port: 70000
    intervall: 10s
    status:
      - 2xx
      - 700
    headers:
      X-Fine: yes
      "X Bad": no
    window:
      size: 3
      required: 5
policies:
  p:
    order:
      - a
      - a
    check:
      - web
      - ping
    steer: geo
`)
	want := `f:4: zones.name: "a..example" is not a domain name: an empty label
  hint: a name such as gslb.example.com
f:9: checks.web.port: 70000 is out of range
  hint: 1 to 65535
f:10: checks.web.intervall: unknown key
  hint: did you mean "interval"?
f:13: checks.web.status: "700" is not a status
  hint: statuses from 100 to 599, as in [ 2xx, 301, "400-403" ]
f:16: checks.web.headers."X Bad": "X Bad" is not a header name
  hint: letters, digits and hyphens
f:17: checks.web.window: required 5 is more than size 3
  hint: required is 1 to size
f:22: policies.p.order: pool "a" is repeated
  hint: name it once
f:25: policies.p.check: unknown check "ping"
  hint: define it under checks:, or use one of web
f:28: policies.p.steer: "geo" is not available in this version
  hint: the only value is failover`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
