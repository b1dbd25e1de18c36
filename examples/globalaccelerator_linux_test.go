package examples_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

const accelerator = "global-accelerator"

// TestGlobalAcceleratorCheck: 3×3 + 2×2 = 13 s, the pause of 2 s before, a TTL of 10 s.
func TestGlobalAcceleratorCheck(t *testing.T) {
	want := [3]float64{13, 4, 25}
	checkExample(t, accelerator, map[string][3]float64{"www/A": want, "shop/A": want, "db/A": want, "voice/A": want})
}

// TestGlobalAcceleratorHTTP: a GET that only 200 answers well, within 3 s.
func TestGlobalAcceleratorHTTP(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	var seen atomic.Pointer[http.Request]
	address := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(int(status.Load()))
	}).addr
	for _, code := range []int64{200, 201, 204, 206, 301, 302, 401, 404, 500, 503} {
		status.Store(code)
		want := "pass"
		if code != 200 {
			want = fmt.Sprintf("fail status %d, want 200", code)
		}
		expectProbe(t, accelerator, "http", address, want)
		if r := seen.Load(); r.Method != "GET" || r.URL.Path != "/" {
			t.Errorf("probed with %s %s", r.Method, r.URL)
		}
	}
	hangs := newSite(t, "127.0.0.1:0", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	expectProbe(t, accelerator, "http", hangs.addr, "fail no reply in 3s")
}

// TestGlobalAcceleratorTCP: SYN+ACK passes, RST fails at once, silence after 3 s.
func TestGlobalAcceleratorTCP(t *testing.T) {
	t.Parallel()
	open := newSite(t, "127.0.8.1:0", nil) // where no other test listens when this one has closed the port
	expectProbe(t, accelerator, "tcp", open.addr, "pass")
	open.set(t, false)
	expectProbe(t, accelerator, "tcp", open.addr, "fail connect: connection refused")
	expectProbe(t, accelerator, "tcp", silentPort(t), "fail connect: no reply in 3s")
}

// TestGlobalAcceleratorSwitch: new requests go to the healthy endpoints, and one
// that recovered is taken back by itself.
func TestGlobalAcceleratorSwitch(t *testing.T) {
	certificate := trust(t, "shop.gslb.example.com")
	web, shop, db, voice := freePort(t), freePort(t), freePort(t), freePort(t)
	r := serveExample(t, accelerator, "port: 80\n", "port: "+web+"\n", "port: 443", "port: "+shop,
		"port: 3306", "port: "+db, "target=:7000", "target=:"+voice, "interval: 2s", "interval: 100ms")
	one, two, osaka := newSite(t, "127.0.2.10:"+web, nil), newSite(t, "127.0.2.11:"+web, nil), newSite(t, "127.51.100.10:"+web, nil)
	r.wait(t, www, "A", "up up up")
	for _, step := range []struct {
		one, two, osaka bool
		answer          string
	}{
		{true, true, true, "127.0.2.10 127.0.2.11"},
		{false, true, true, "127.0.2.11"},
		{false, false, true, "127.51.100.10"},
		{true, false, true, "127.0.2.10"},
		{true, true, false, "127.0.2.10 127.0.2.11"},
	} {
		one.set(t, step.one)
		two.set(t, step.two)
		osaka.set(t, step.osaka)
		answers(t, r.dns, www, "A", step.answer)
	}

	newTLSSite(t, "127.0.2.20:"+shop, certificate, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/status" || !strings.HasPrefix(r.Host, "shop.gslb.example.com") {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	newSite(t, "127.51.100.30:"+db, nil)
	newSite(t, "127.0.2.40:"+voice, nil)
	r.wait(t, "shop.gslb.example.com", "A", "up down")
	r.wait(t, "db.gslb.example.com", "A", "down up")
	r.wait(t, "voice.gslb.example.com", "A", "up down")
	answers(t, r.dns, "shop.gslb.example.com", "A", "127.0.2.20")
	answers(t, r.dns, "db.gslb.example.com", "A", "127.51.100.30")
	answers(t, r.dns, "voice.gslb.example.com", "A", "127.0.2.40")
}
