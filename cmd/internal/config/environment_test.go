package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestEnvironment(t *testing.T) {
	text := oneZone + "log: { level: warn }\nlisten: [ \"127.0.0.1:1\" ]\n"
	for variable, value := range map[string]string{
		"GSLBD_LISTEN":               "127.0.0.1:5300, [::1]:5300",
		"GSLBD_NODE":                 "ns9",
		"GSLBD_WATCH":                "false",
		"GSLBD_ADMIN_SOCKET":         "/run/other.sock",
		"GSLBD_LOG_LEVEL":            "debug",
		"GSLBD_LOG_FORMAT":           "json",
		"GSLBD_HEALTH_MAX_IN_FLIGHT": "7",
		// what container platforms set for a service of this name is no matter of ours
		"GSLBD_SERVICE_HOST": "192.0.2.1",
		"GSLBD_PORT":         "udp://192.0.2.1:53",
	} {
		t.Setenv(variable, value)
	}
	got := mustLoad(t, text)
	want := *got
	want.Listen, want.Node, want.Watch = []string{"127.0.0.1:5300", "[::1]:5300"}, "ns9", false
	want.Admin.Socket, want.Log, want.Health.MaxInFlight = "/run/other.sock", Log{"debug", "json"}, 7
	if diff := cmp.Diff(&want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for path, want := range map[string]string{"listen": "GSLBD_LISTEN", "health.max_in_flight": "GSLBD_HEALTH_MAX_IN_FLIGHT", "ecs": "", "port": ""} {
		if name := got.Variable(path); name != want {
			t.Errorf("%s was set by %q, want %q", path, name, want)
		}
	}
}

// TestEnvironmentComplete holds every scalar setting outside the maps to have
// its variable.
func TestEnvironmentComplete(t *testing.T) {
	var paths []string
	var walk func(prefix string, table []option)
	walk = func(prefix string, table []option) {
		for _, o := range table {
			if o.env {
				paths = append(paths, variableOf(prefix+o.name))
			}
			walk(prefix+o.name+".", o.sub)
		}
	}
	walk("", settings(defaults("gslbd.yaml")))
	want := []string{"GSLBD_LISTEN", "GSLBD_UDP_WORKERS", "GSLBD_UDP_RECEIVE_BUFFER", "GSLBD_UDP_SEND_BUFFER", "GSLBD_NODE", "GSLBD_WATCH", "GSLBD_ADMIN_SOCKET", "GSLBD_LOG_LEVEL",
		"GSLBD_LOG_FORMAT", "GSLBD_HEALTH_MAX_IN_FLIGHT", "GSLBD_TCP_MAX_CONNECTIONS", "GSLBD_TCP_MAX_CONNECTIONS_PER_CLIENT", "GSLBD_TCP_MAX_QUERIES", "GSLBD_TCP_IDLE_TIMEOUT", "GSLBD_TCP_MESSAGE_TIMEOUT",
		"GSLBD_RATE_LIMIT_RESPONSES_PER_SECOND", "GSLBD_RATE_LIMIT_ERRORS_PER_SECOND", "GSLBD_RATE_LIMIT_SLIP", "GSLBD_RATE_LIMIT_IPV4_PREFIX",
		"GSLBD_RATE_LIMIT_IPV6_PREFIX", "GSLBD_RATE_LIMIT_TABLE_SIZE", "GSLBD_RATE_LIMIT_LOG_ONLY",
		"GSLBD_STATE_DIR", "GSLBD_STATE_MAX_AGE",
		"GSLBD_ECS", "GSLBD_DNS_UDP_SIZE", "GSLBD_DNS_UDP_SIZE_WITHOUT_COOKIE", "GSLBD_DNS_COOKIES", "GSLBD_DNS_COOKIE_SECRET_FILE",
		"GSLBD_DNS_NSID", "GSLBD_DNS_VERSION", "GSLBD_DNS_HOSTNAME", "GSLBD_DNS_ID", "GSLBD_DNS_ANY"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEnvironmentEmpty(t *testing.T) {
	t.Setenv("GSLBD_LOG_LEVEL", "")
	if c := mustLoad(t, oneZone+"log: { level: warn }\n"); c.Log.Level != "warn" {
		t.Errorf("got %s", c.Log.Level)
	}
}

func TestEnvironmentRelativePath(t *testing.T) {
	t.Setenv("GSLBD_ADMIN_SOCKET", "other.sock")
	c := mustLoad(t, oneZone)
	if want := strings.TrimSuffix(c.File, "gslbd.yaml") + "other.sock"; c.Admin.Socket != want {
		t.Errorf("got %s, want %s", c.Admin.Socket, want)
	}
}

// TestEnvironmentInvalid has each bad value named by its variable, beside what
// is wrong in the file.
func TestEnvironmentInvalid(t *testing.T) {
	long := "/run/" + strings.Repeat("x", 200)
	for variable, test := range map[string][2]string{
		"GSLBD_ADMIN_SOCKET":         {long, long + " is 205 bytes long, a socket path holds at most 107\n  hint: choose a shorter path"},
		"GSLBD_LISTEN":               {"ns1:53", "\"ns1:53\": \"ns1\" is not an IP address\n  hint: write its IP address; the server does not ask another one for names"},
		"GSLBD_NODE":                 {"my node", "\"my node\" is not a name\n  hint: 1 to 255 printable ASCII characters without spaces"},
		"GSLBD_WATCH":                {"1", "1 is neither true nor false\n  hint: true or false"},
		"GSLBD_LOG_LEVEL":            {"inf", "unknown value \"inf\"\n  hint: did you mean \"info\"?"},
		"GSLBD_LOG_FORMAT":           {"xml", "unknown value \"xml\"\n  hint: one of auto, console, json"},
		"GSLBD_HEALTH_MAX_IN_FLIGHT": {"0", "0 is out of range\n  hint: 1 to 100000"},
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, test[0])
			file := write(t, oneZone+"admin: { sokcet: x }\n")
			c, problems := Load(file)
			want := file + ":2: admin.sokcet: unknown key\n  hint: did you mean \"socket\"?\nenvironment: " + variable + ": " + test[1]
			if c != nil || problems.Error() != want {
				t.Errorf("got %v\n%s\nwant\n%s", c, problems.Error(), want)
			}
		})
	}
}

// TestEnvironmentAndFile has a bad value in the file reported even where a
// variable overrides it.
func TestEnvironmentAndFile(t *testing.T) {
	t.Setenv("GSLBD_LOG_LEVEL", "debug")
	file := write(t, oneZone+"log: { level: loud }\n")
	want := file + ":2: log.level: unknown value \"loud\"\n  hint: one of debug, info, warn, error"
	if _, problems := Load(file); problems.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", problems.Error(), want)
	}
}
