package examples_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestNifcloudCheck: the files as they stand, and how fast they react: a round
// is three tries of 5 s, the pause before it 5 minutes, the TTL a minute.
func TestNifcloudCheck(t *testing.T) {
	want := [3]float64{15, 0, 375}
	checkExample(t, "nifcloud", map[string][3]float64{"mail/A": want, "shop/A": want, "www/A": want, "www/AAAA": want})
}

// nifcloud is the example running with real servers on loopback.
type nifcloud struct {
	*running
	web, shop, smtp string // ports
	v6              [2]string
}

// startNifcloud runs the example's files with three things changed: every
// documentation address becomes one of 127.0.0.0/8 (for AAAA: a target on
// ::1), every port a free one, and rounds follow each other after 1 s.
func startNifcloud(t *testing.T) *nifcloud {
	t.Helper()
	n := &nifcloud{web: freePort(t), shop: freePort(t), smtp: freePort(t), v6: [2]string{freePort(t), freePort(t)}}
	n.running = serveExample(t, "nifcloud",
		"port: 80\n", "port: "+n.web+"\n", "8443", n.shop, "port: 25\n", "port: "+n.smtp+"\n",
		"interval: 5m", "interval: 1s",
		"2001:db8:1::10    ; @primary", "2001:db8:1::10 ; @primary target=[::1]:"+n.v6[0],
		"2001:db8:2::10    ; @secondary", "2001:db8:2::10 ; @secondary target=[::1]:"+n.v6[1])
	return n
}

// TestNifcloudSwitch goes through the whole truth table, and more than once
// through its last row, with one primary and two secondaries.
func TestNifcloudSwitch(t *testing.T) {
	n := startNifcloud(t)
	const primary, second, third = "127.0.2.10", "127.51.100.10", "127.0.113.10"
	sites := map[string]*site{}
	for _, ip := range []string{primary, second, third} {
		sites[ip] = newSite(t, ip+":"+n.web, nil)
	}
	v6 := []*site{newSite(t, "[::1]:"+n.v6[0], nil), newSite(t, "[::1]:"+n.v6[1], nil)}
	n.wait(t, www, "AAAA", "up up")

	for i, step := range []struct{ up, states, answer string }{
		{primary + second + third, "up up up", primary},
		{primary, "up down down", primary},
		{"", "down down down", primary}, // no switch
		{second + third, "down up up", third + " " + second},
		{third, "down down up", third},
		{"", "down down down", third}, // no switch
		{second, "down up down", second},
		{primary + second, "up up down", primary},
	} {
		for ip, s := range sites {
			s.set(t, strings.Contains(step.up, ip))
		}
		n.wait(t, www, "A", step.states)
		if got := dig(n.dns, www, "A"); got != step.answer {
			t.Errorf("step %d: with %s: answered %q, want %q", i, step.states, got, step.answer)
		}
	}

	// A and AAAA fail over apart.
	v6[0].set(t, false)
	n.wait(t, www, "AAAA", "down up")
	if a, aaaa := dig(n.dns, www, "A"), dig(n.dns, www, "AAAA"); a != primary || aaaa != "2001:db8:2::10" {
		t.Errorf("answered %q and %q", a, aaaa)
	}
}

// TestNifcloudProbe looks at the probes themselves.
func TestNifcloudProbe(t *testing.T) {
	n := startNifcloud(t)
	var seen atomic.Pointer[http.Request]
	var tries atomic.Int64
	var passes atomic.Bool
	passes.Store(true)
	newSite(t, "127.0.2.10:"+n.web, func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r)
		if tries.Add(1)%3 != 0 || !passes.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	// Two failed tries and a passed one are a passed round.
	n.wait(t, www, "A", "up down down")
	before := tries.Load()
	eventually(t, "more rounds", func() string {
		if now := tries.Load(); now < before+6 {
			return fmt.Sprint(now-before, " tries")
		}
		return ""
	})
	n.wait(t, www, "A", "up down down")
	r := seen.Load()
	host, _, _ := strings.Cut(r.Host, ":")
	if r.Proto != "HTTP/1.0" || r.Method != "GET" || r.URL.Path != "/" || host != www {
		t.Errorf("probed with %s %s %s, Host %s", r.Method, r.URL, r.Proto, r.Host)
	}
	// Three failed tries are a failed one.
	passes.Store(false)
	n.wait(t, www, "A", "down down down")
}

// TestNifcloudRedirect: a 301 is followed to the server that it names, and that
// server decides.
func TestNifcloudRedirect(t *testing.T) {
	n := startNifcloud(t)
	named := newSite(t, "127.0.0.2:"+n.web, nil)
	newSite(t, "127.0.2.10:"+n.web, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.2:"+n.web+"/there", http.StatusMovedPermanently)
	})
	n.wait(t, www, "A", "up down down")
	named.set(t, false)
	n.wait(t, www, "A", "down down down")
	named.set(t, true)
	n.wait(t, www, "A", "up down down")
}

// TestNifcloudTCPAndHTTPS: the other two protocols, the target= of the HTTPS
// primary, and its host name in the Host header and the certificate.
func TestNifcloudTCPAndHTTPS(t *testing.T) {
	certificate := trust(t, "shop.example.com") // before gslbd starts
	n := startNifcloud(t)
	mail := newSite(t, "127.0.2.25:"+n.smtp, nil)
	newSite(t, "127.51.100.25:"+n.smtp, nil)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/status" || !strings.HasPrefix(r.Host, "shop.example.com") {
			w.WriteHeader(http.StatusNotFound)
		}
	}
	shop := newTLSSite(t, "127.0.2.120:"+n.shop, certificate, handler)
	newTLSSite(t, "127.51.100.20:"+n.shop, certificate, handler)

	n.wait(t, "mail.gslb.example.com", "A", "up up")
	n.wait(t, "shop.gslb.example.com", "A", "up up")
	answers(t, n.dns, "mail.gslb.example.com", "A", "127.0.2.25")
	answers(t, n.dns, "shop.gslb.example.com", "A", "127.0.2.20")
	mail.set(t, false)
	shop.set(t, false)
	answers(t, n.dns, "mail.gslb.example.com", "A", "127.51.100.25")
	answers(t, n.dns, "shop.gslb.example.com", "A", "127.51.100.20")
}
