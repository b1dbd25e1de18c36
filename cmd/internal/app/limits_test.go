package app

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// TestLimitsReload: the limits of the configuration hold from the start, and other ones from a reload on, without a restart and without a
// word.
func TestLimitsReload(t *testing.T) {
	const limits = "tcp: { max_queries: 1 }\nrate_limit: { responses_per_second: 1, slip: 1 }\n"
	a, logs := launch(t, checksText+"watch: false\n"+limits, header+pairs)
	data, err := os.ReadFile("gslbd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if udp, tcp := limited(t, a); !udp || tcp != 1 {
		t.Errorf("at the start: truncated over UDP %v, %d answers on a connection, want true and 1", udp, tcp)
	}
	for _, step := range []struct {
		limits string
		udp    bool
		tcp    int
	}{
		{"", false, 3},
		{"tcp: { max_queries: 2 }\n", false, 2},
		{"rate_limit: { responses_per_second: 1, slip: 1 }\n", true, 3},
		{"rate_limit: { responses_per_second: 1, slip: 1, exempt: [ 127.0.0.0/8 ] }\n", false, 3},
		{"rate_limit: { responses_per_second: 1, slip: 1, log_only: true }\n", false, 3},
	} {
		put(t, "gslbd.yaml", strings.Replace(string(data), limits, step.limits, 1))
		if problems := a.Reload(t.Context(), false); len(problems) > 0 {
			t.Fatal(problems)
		}
		if udp, tcp := limited(t, a); udp != step.udp || tcp != step.tcp {
			t.Errorf("%q: truncated over UDP %v, %d answers on a connection, want %v and %d", step.limits, udp, tcp, step.udp, step.tcp)
		}
	}
	if n := logs.FilterMessage("rate limiting began").Len(); n == 0 {
		t.Error("the log says nothing of a limited network")
	}
}

// limited asks three times over UDP and on one TCP connection. It tells whether an answer was truncated, and how many came over TCP.
func limited(t *testing.T, a *App) (udp bool, tcp int) {
	t.Helper()
	packet, err := new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA).Pack()
	if err != nil {
		t.Fatal(err)
	}
	for _, network := range []string{"udp", "tcp"} {
		raw, err := net.Dial(network, a.Addrs()[0].String())
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		_ = raw.SetDeadline(time.Now().Add(5 * time.Second))
		conn := &dns.Conn{Conn: raw}
		for range 3 {
			_, _ = conn.Write(packet)
		}
		for range 3 {
			m, err := conn.ReadMsg()
			if err != nil {
				break
			}
			udp = udp || m.Truncated
			if network == "tcp" {
				tcp++
			}
		}
	}
	return udp, tcp
}
