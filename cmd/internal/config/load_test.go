package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslbd/health/probe"
	"gslbd/zone"
	"gslbd/zone/steer"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// oneZone is the smallest valid file.
const oneZone = "zones: [ { name: gslb.example.com, file: gslb.example.com.zone } ]\n"

// write makes a configuration file in a directory of its own.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gslbd.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// mustLoad loads a text that has no problem at all.
func mustLoad(t *testing.T, text string) *Config {
	t.Helper()
	c, problems := Load(write(t, text))
	if len(problems) > 0 {
		t.Fatalf("unexpected problems:\n%s", problems.Error())
	}
	return c
}

func TestLoadExample(t *testing.T) {
	file := write(t, `
listen: [ "127.0.0.1:5353", "[::1]:5353" ]
node: ns1
zones:
  - { name: GSLB.example.com., file: gslb.example.com.zone }
  - { name: other.example, file: /srv/other.zone }
checks:
  web:  { type: http, port: 8080, path: /healthz, interval: 10s, timeout: 5s, fall: 2, rise: 3 }
  Ping: { type: icmp, source: [ 192.0.2.1, "2001:db8::1" ] }
  smtp: { type: tcp, port: 25, expect: 220, window: { size: 5, required: 3 } }
policies:
  sticky: { steer: failover, order: [Primary, secondary], members: all, check: "web, PING", min_healthy: 50% }
watch: false
state_dir: state
state_max_age: 10m
admin: { socket: run/admin.sock }
log: { level: debug, format: json }
health: { max_in_flight: 10 }
`)
	dir := filepath.Dir(file)
	got, problems := Load(file)
	if problems != nil {
		t.Fatal(problems.Error())
	}
	sticky := steer.Failover()
	sticky.Name, sticky.Order = "sticky", []string{"primary", "secondary"}
	sticky.Checks, sticky.MinHealthy = []string{"web", "ping"}, steer.Quorum{Percent: 50}
	common := probe.Check{Interval: 10 * time.Second, Timeout: 5 * time.Second, Fall: 2, Rise: 3}
	web, ping, smtp := common, common, common
	web.Name, web.Type = "web", "http"
	web.HTTP = &probe.HTTP{Scheme: "http", Port: 8080, Method: "HEAD", Path: "/healthz",
		Status: []probe.StatusRange{{Low: 200, High: 299}}, Version: "1.1", Verify: true, UserAgent: userAgent(), OwnAgent: true}
	ping.Name, ping.Type, ping.ICMP = "ping", "icmp", &probe.ICMP{Count: 1, Size: 24}
	ping.Source = []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}
	smtp.Name, smtp.Type, smtp.TCP = "smtp", "tcp", &probe.TCP{Port: 25, Expect: []byte("220")}
	smtp.Fall, smtp.Rise, smtp.Window = 0, 0, &probe.Window{Size: 5, Required: 3}
	want := &Config{
		File: file, Node: "ns1", Listen: []string{"127.0.0.1:5353", "[::1]:5353"},
		Zones: []zone.Source{
			{Name: "gslb.example.com", File: filepath.Join(dir, "gslb.example.com.zone")},
			{Name: "other.example", File: "/srv/other.zone"}},
		Checks:   map[string]probe.Check{"web": web, "ping": ping, "smtp": smtp},
		Policies: map[string]steer.Policy{"failover": steer.Failover(), "sticky": sticky},
		Admin:    Admin{Socket: filepath.Join(dir, "run/admin.sock")},
		Log:      Log{Level: "debug", Format: "json"},
		Health:   Health{MaxInFlight: 10},
		StateDir: filepath.Join(dir, "state"), StateMaxAge: 10 * time.Minute,
		DNS: DNS{UDPSize: 1232, Cookies: true, NSID: "ns1", Version: true, Hostname: true, ID: true}, ECS: true,
		TCP: defaultTCP(), RateLimit: defaultRateLimit(),
	}
	if diff := cmp.Diff(want, got, addrs(), cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLoadDefaults(t *testing.T) {
	got := mustLoad(t, oneZone)
	host, _ := os.Hostname()
	want := &Config{File: got.File, Node: host, Listen: []string{"127.0.0.1:5353", "[::1]:5353"},
		Zones:    []zone.Source{{Name: "gslb.example.com", File: filepath.Join(filepath.Dir(got.File), "gslb.example.com.zone")}},
		Policies: map[string]steer.Policy{"failover": steer.Failover()}, Watch: true, StateMaxAge: time.Hour,
		Admin: Admin{Socket: filepath.Join(filepath.Dir(got.File), "gslbd.sock")},
		Log:   Log{Level: "info", Format: "auto"}, Health: Health{MaxInFlight: 1000},
		DNS: DNS{UDPSize: 1232, Cookies: true, NSID: host, Version: true, Hostname: true, ID: true}, ECS: true,
		TCP:       TCP{MaxConnections: 1000, MaxConnectionsPerClient: 100, IdleTimeout: 10 * time.Second, MessageTimeout: 5 * time.Second},
		RateLimit: RateLimit{Slip: 2, IPv4Prefix: 24, IPv6Prefix: 56, TableSize: 524288}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLoadSearch(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")
	_, problems := loadFirst([]string{first, second})
	want := first + ": no configuration file\n  hint: looked for " + first + " and " + second + "; name another place with --config FILE"
	if problems.Error() != want {
		t.Errorf("got %q, want %q", problems.Error(), want)
	}
	for _, file := range []string{second, first} {
		if err := os.WriteFile(file, []byte(oneZone), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := loadFirst([]string{first, second})
		if problems != nil || c.File != file {
			t.Errorf("with %s present: %v, %v", file, c, problems)
		}
	}
}

func TestLoadWorkingDirectory(t *testing.T) {
	file := write(t, oneZone)
	t.Chdir(filepath.Dir(file))
	c, problems := Load("")
	if problems != nil {
		t.Fatal(problems.Error())
	}
	if c.File != "gslbd.yaml" || c.Zones[0].File != "gslb.example.com.zone" || c.Admin.Socket != "gslbd.sock" {
		t.Errorf("got %+v", c)
	}
}

func TestDefaultSocket(t *testing.T) {
	if got := defaultSocket("/etc/gslbd"); got != "/run/gslbd/admin.sock" {
		t.Errorf("got %s", got)
	}
}

// TestLoadUnreadable holds the files that are none.
func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.yaml")
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, maxFile+1); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed.yaml")
	if err := os.WriteFile(closed, []byte(oneZone), 0); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		dir:                               "is a directory",
		"/dev/null":                       "is not a regular file",
		huge:                              "is larger than 32 MiB",
		filepath.Join(dir, "absent.yaml"): "no such file",
	}
	if os.Geteuid() != 0 {
		tests[closed] = "permission denied"
	}
	for file, want := range tests {
		c, problems := Load(file)
		if c != nil || len(problems) != 1 || problems[0].Message != want || problems[0].File != file || problems[0].Hint == "" {
			t.Errorf("%s: %v, %v, want %q", file, c, problems, want)
		}
	}
}

// TestLoadText holds the spellings of a text file that mean the same.
func TestLoadText(t *testing.T) {
	plain := oneZone + "checks:\n  web: { type: http }\n"
	for name, text := range map[string]string{
		"final newline": plain,
		"none":          strings.TrimSuffix(plain, "\n"),
		"CRLF":          strings.ReplaceAll(plain, "\n", "\r\n"),
		"BOM":           "\uFEFF" + plain,
		"BOM and CRLF":  "\uFEFF" + strings.ReplaceAll(plain, "\n", "\r\n"),
		"markers":       "---\n" + plain + "...\n",
		"comments":      "# first\n" + plain + "# last",
	} {
		if c := mustLoad(t, text); c != nil && (len(c.Zones) != 1 || c.Checks["web"].Type != "http") {
			t.Errorf("%s: got %+v", name, c)
		}
	}
}

func TestVocabulary(t *testing.T) {
	c := mustLoad(t, oneZone+`
checks: { web: { type: http }, ping: { type: icmp } }
policies: { two: { order: [a, b], fallback: none, check: web } }
`)
	want := zone.Vocabulary{Checks: []string{"ping", "web"}, Policies: map[string]zone.PolicyNames{
		"failover": {Pools: []string{"primary", "secondary", "tertiary"}, Fallback: "fallback"},
		"two":      {Pools: []string{"a", "b"}, Checks: []string{"web"}},
	}}
	if diff := cmp.Diff(want, c.Vocabulary()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestChanged(t *testing.T) {
	text := oneZone + "listen: 127.0.0.1:5300\nudp: { workers: 1, receive_buffer: 1MiB, send_buffer: 2MiB }\nnode: a\nwatch: true\nstate_dir: /d\nstate_max_age: 3h\nadmin: { socket: /s }\nlog: { level: info, format: json }\nhealth: { max_in_flight: 5 }\n"
	before := mustLoad(t, text)
	for _, other := range []string{text + "checks: { a: { type: icmp } }\necs: false\ndns: { cookies: false }\n", strings.Replace(text, "node: a", "node: b", 1), strings.Replace(text, "5300", "5301", 1)} {
		if got := before.Changed(mustLoad(t, other)); len(got) != 0 {
			t.Errorf("got %v, want none", got)
		}
	}
	for path, edit := range map[string][2]string{
		"udp.workers": {"workers: 1", "workers: 2"}, "udp.receive_buffer": {"1MiB", "3MiB"}, "udp.send_buffer": {"2MiB", "3MiB"}, "watch": {"true", "false"}, "admin.socket": {"/s", "/t"},
		"state_dir": {"/d", "/e"}, "state_max_age": {"3h", "2h"},
		"log.level": {"info", "warn"}, "log.format": {"json", "auto"}, "health.max_in_flight": {"5 ", "6 "},
	} {
		got := before.Changed(mustLoad(t, strings.Replace(text, edit[0], edit[1], 1)))
		if diff := cmp.Diff([]string{path}, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
	}
}

// TestValid loads the files of testdata/config/valid, from which the fuzz test
// starts, without a word.
func TestValid(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/config/valid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		if c, problems := Load(file); c == nil || len(problems) > 0 {
			t.Errorf("%s: %s", filepath.Base(file), problems.Error())
		}
	}
}

// TestEverything has the file that holds every key leave no setting at its
// default.
func TestEverything(t *testing.T) {
	c, problems := Load("../../../testdata/config/valid/everything.yaml")
	if problems != nil {
		t.Fatal(problems.Error())
	}
	if same := 10 - len(c.Changed(defaults(c.File))); same != 0 {
		t.Errorf("%d settings are at their default", same)
	}
	if want := (DNS{UDPSize: 1400, UDPSizeWithoutCookie: 600, Cookies: true, NSID: "tokyo", RefuseANY: true}); !cmp.Equal(c.DNS, want) || c.ECS || c.Node != "tokyo-1" {
		t.Errorf("dns: got %+v, ecs %v", c.DNS, c.ECS)
	}
	h := c.Checks["web"].HTTP
	if h.Host != "www.example.com:8443" || h.SNI != "www.example.com" || len(h.Headers) != 2 || h.Headers[0][0] != "X-Probe" {
		t.Errorf("http: got %+v", h)
	}
	if got := c.Policies["careful"]; got.Fallback != "sorry" || got.MinHealthy.Percent != 50 || got.UnknownAs != steer.Down {
		t.Errorf("policy: got %+v", got)
	}
}

// Without a place nothing is kept; an empty one is as good as none.
func TestStateDir(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		`state_dir: ""`:           "",
		"state_dir: /var/x/../y/": "/var/y",
		"state_dir: 7":            "DIR/7",
	} {
		c := mustLoad(t, oneZone+text+"\n")
		if got := strings.Replace(c.StateDir, filepath.Dir(c.File), "DIR", 1); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	t.Setenv("GSLBD_STATE_DIR", "from/environment")
	t.Setenv("GSLBD_STATE_MAX_AGE", "5s")
	c := mustLoad(t, oneZone+"state_dir: other\n")
	if c.StateDir != filepath.Join(filepath.Dir(c.File), "from/environment") || c.StateMaxAge != 5*time.Second {
		t.Errorf("%q, %v", c.StateDir, c.StateMaxAge)
	}
	if got := faults(t, oneZone+"state_dir:\n"); got == "" {
		t.Error("an absent value is taken")
	}
}
