package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gslbd/cmd/internal/admin"
)

func TestProbe(t *testing.T) {
	var host string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		if r.Host == "sick.example.com" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	address := srv.Listener.Addr().String()
	cfg := configured(t, checksText, header)
	ctx := context.Background()

	r, err := Probe(ctx, cfg, "WEB", address, "www.example.com.")
	if err != nil || r.Outcome != "pass" || r.Reason != "" || r.Check != "web" || r.Type != "http" || r.Target != address || r.LatencyMS <= 0 || len(r.Steps) == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if host != "www.example.com" {
		t.Errorf("asked for host %q", host)
	}
	r, err = Probe(ctx, cfg, "web", address, "sick.example.com")
	if err != nil || r.Outcome != "fail" || !strings.Contains(r.Reason, "503") || r.LatencyMS != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	srv.Close()
	r, err = Probe(ctx, cfg, "web", address, "")
	if err != nil || r.Outcome != "fail" || r.Reason != "connect: connection refused" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestProbeFault(t *testing.T) {
	cfg := configured(t, "checks: { six: { type: tcp, source: \"::1\" } }\n", header)
	r, err := Probe(t.Context(), cfg, "six", "127.0.0.1:1", "")
	if err != nil || r.Outcome != "fault" || r.Reason == "" || r.Steps == nil {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestProbeTargets(t *testing.T) {
	tests := []struct{ address, want string }{
		{"192.0.2.1", "192.0.2.1:0"},
		{"192.0.2.1:8080", "192.0.2.1:8080"},
		{"2001:db8::1", "[2001:db8::1]:0"},
		{"[2001:db8::1]", "[2001:db8::1]:0"},
		{"[2001:db8::1]:8080", "[2001:db8::1]:8080"},
		{"::ffff:192.0.2.1", "192.0.2.1:0"},
		{"192.0.2.1:0", ""},
		{"192.0.2.1:70000", ""},
		{"www.example.com:80", ""},
		{":80", ""},
		{"", ""},
	}
	for _, tt := range tests {
		target, err := parseTarget(tt.address)
		got := net.JoinHostPort(target.Addr.String(), strings.TrimPrefix(netPort(target.Port), ":"))
		if tt.want == "" {
			if e, ok := errors.AsType[*admin.Error](err); !ok || e.Status != 400 || e.Hint == "" {
				t.Errorf("%q: got %v, %v", tt.address, got, err)
			}
		} else if err != nil || got != tt.want {
			t.Errorf("%q: got %v, %v", tt.address, got, err)
		}
	}
}

func netPort(port uint16) string {
	addr := net.TCPAddr{Port: int(port)}
	return addr.String()
}

func TestProbeUnknownCheck(t *testing.T) {
	for settings, hint := range map[string]string{
		checksText:                            `did you mean "web"?`,
		"":                                    "the configuration has no checks",
		"checks: { zzzzzzz: { type: icmp } }": "there are zzzzzzz",
	} {
		_, err := Probe(t.Context(), configured(t, settings, header), "wbe", "127.0.0.1", "")
		e, ok := errors.AsType[*admin.Error](err)
		if !ok || e.Message != `no check is named "wbe" in gslbd.yaml` || !strings.HasPrefix(e.Hint, hint) {
			t.Errorf("got %v, want hint %s", err, hint)
		}
	}
}
