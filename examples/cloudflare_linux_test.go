package examples_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const cloudflare = "cloudflare"

// TestCloudflareCheck: two rounds of three tries of 5 s, 60 s apart, are 90 s.
func TestCloudflareCheck(t *testing.T) {
	want := [3]float64{90, 120, 180}
	checkExample(t, cloudflare, map[string][3]float64{"www/A": want, "shop/A": want, "mail/A": want})
}

// TestCloudflareMonitor: the two questions of a monitor, expected codes and
// body, and what it sends.
func TestCloudflareMonitor(t *testing.T) {
	t.Parallel()
	type reply struct {
		status int
		body   string
	}
	var next atomic.Pointer[reply]
	var seen atomic.Pointer[http.Request]
	var tries atomic.Int64
	address := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r)
		tries.Add(1)
		w.Header().Set("Location", "/")
		w.WriteHeader(next.Load().status)
		io.WriteString(w, next.Load().body)
	}).addr
	for _, c := range []struct {
		reply
		want string
	}{
		{reply{200, "all are alive here"}, "pass"},
		{reply{200, "dead"}, `fail body does not contain "alive"`},
		{reply{200, ""}, `fail body does not contain "alive"`},
		{reply{204, ""}, `fail body does not contain "alive"`},
		{reply{201, "alive"}, "fail status 201, want 200 or 204"},
		{reply{301, "alive"}, "fail status 301, want 200 or 204"}, // follow redirects: off
		{reply{503, "alive"}, "fail status 503, want 200 or 204"},
	} {
		next.Store(&c.reply)
		tries.Store(0)
		expectProbe(t, cloudflare, "monitor", address, c.want)
		if want := map[bool]int64{true: 1, false: 3}[c.want == "pass"]; tries.Load() != want {
			t.Errorf("%s: %d tries, want %d", c.want, tries.Load(), want)
		}
	}
	r := seen.Load()
	if r.Method != "GET" || r.URL.Path != "/health" || r.Host != "www.example.com" || r.Header.Get("X-Probe") != "gslbd" {
		t.Errorf("probed with %s %s, Host %s, %v", r.Method, r.URL, r.Host, r.Header)
	}
}

// TestCloudflareSecure: allow insecure and follow redirects, both on.
func TestCloudflareSecure(t *testing.T) {
	certificate := trust(t, "another.example.com")
	var to atomic.Value
	to.Store("/moved")
	address := newTLSSite(t, "127.0.0.1:0", certificate, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/moved" {
			http.Redirect(w, r, to.Load().(string), http.StatusFound)
		}
	}).addr
	expectProbe(t, cloudflare, "secure", address, "pass")
	to.Store("/round")
	expectProbe(t, cloudflare, "secure", address, "fail more than 1 redirect")
}

// cloudflareSites are the servers of www. They answer once opened.
type cloudflareSites struct {
	*running
	sites  map[string]*site
	opened chan struct{}
}

func startCloudflare(t *testing.T) *cloudflareSites {
	t.Helper()
	web, tls, smtp := freePort(t), freePort(t), freePort(t)
	c := &cloudflareSites{sites: map[string]*site{}, opened: make(chan struct{})}
	handler := func(w http.ResponseWriter, _ *http.Request) {
		<-c.opened
		io.WriteString(w, "alive")
	}
	for _, ip := range []string{"127.0.2.10", "127.0.2.11", "127.0.2.12", "127.51.100.10", "127.0.113.10"} {
		c.sites[ip] = newSite(t, ip+":"+web, handler)
	}
	for _, ip := range []string{"127.0.2.25", "127.51.100.25"} {
		c.sites[ip] = newSite(t, ip+":"+smtp, handler)
	}
	c.running = serveExample(t, cloudflare, "port: 80\n", "port: "+web+"\n", "port: 443", "port: "+tls,
		"port: 25\n", "port: "+smtp+"\n", "interval: 60s", "interval: 100ms")
	return c
}

// states waits for the states of a name and its pools, as status shows them.
func (c *cloudflareSites) states(t *testing.T, name, want string) {
	t.Helper()
	eventually(t, name, func() string {
		g, err := c.group(name, "A")
		if err != nil {
			return err.Error()
		}
		got := g.State + ":"
		for _, p := range g.Pools {
			got += " " + p.Name + "=" + p.State
		}
		if got != want {
			return fmt.Sprintf("got %s, want %s", got, want)
		}
		return ""
	})
}

// set stops these servers and starts all others.
func (c *cloudflareSites) set(t *testing.T, down string) {
	t.Helper()
	for ip, s := range c.sites {
		s.set(t, !strings.Contains(down+" ", ip+" "))
	}
}

// TestCloudflareStatus: members, pools and name go through every state.
func TestCloudflareStatus(t *testing.T) {
	c := startCloudflare(t)
	open := sync.OnceFunc(func() { close(c.opened) })
	t.Cleanup(open)
	c.states(t, www, "degraded: tokyo=unknown osaka=unknown sapporo=unknown rescue=no-health")
	c.wait(t, www, "A", "unknown unknown unknown unknown unknown up")
	open()
	for _, step := range []struct{ down, members, states, answer string }{
		{"", "up up up up up up", "healthy: tokyo=healthy osaka=healthy sapporo=healthy rescue=no-health", "127.0.2.10 127.0.2.11 127.0.2.12"},
		{"127.0.2.10", "down up up up up up", "degraded: tokyo=degraded osaka=healthy sapporo=healthy rescue=no-health", "127.0.2.11 127.0.2.12"},
		{"127.0.2.10 127.0.2.11", "down down up up up up", "degraded: tokyo=critical osaka=healthy sapporo=healthy rescue=no-health", "127.51.100.10"},
		{"127.0.2.10 127.0.2.11 127.51.100.10", "down down up down up up", "degraded: tokyo=critical osaka=critical sapporo=healthy rescue=no-health", "127.0.113.10"},
		{"127.0.2.10 127.0.2.11 127.0.2.12 127.51.100.10 127.0.113.10", "down down down down down up",
			"critical: tokyo=critical osaka=critical sapporo=critical rescue=no-health", "127.0.113.80"},
		{"", "up up up up up up", "healthy: tokyo=healthy osaka=healthy sapporo=healthy rescue=no-health", "127.0.2.10 127.0.2.11 127.0.2.12"},
	} {
		c.set(t, step.down)
		c.wait(t, www, "A", step.members)
		c.states(t, www, step.states)
		if got := dig(c.dns, www, "A"); got != step.answer {
			t.Errorf("with %q down: answered %q, want %q", step.down, got, step.answer)
		}
	}
}

// TestCloudflareNoFallback: every pool critical and the fallback disabled is an
// empty answer with the SOA.
func TestCloudflareNoFallback(t *testing.T) {
	c := startCloudflare(t)
	close(c.opened)
	const mail = "mail.gslb.example.com"
	c.states(t, mail, "healthy: tokyo=healthy osaka=healthy")
	c.set(t, "127.0.2.25")
	answers(t, c.dns, mail, "A", "127.51.100.25")
	c.set(t, "127.0.2.25 127.51.100.25")
	c.states(t, mail, "critical: tokyo=critical osaka=critical")
	out, err := exec.Command("dig", "@127.0.0.1", "-p", c.dns, "+tries=1", mail, "A").CombinedOutput()
	text := strings.Join(strings.Fields(string(out)), " ")
	for _, want := range []string{"status: NOERROR", "flags: qr aa rd; QUERY: 1, ANSWER: 0, AUTHORITY: 1",
		"AUTHORITY SECTION: gslb.example.com. 30 IN SOA ns1.gslb.example.com. hostmaster.gslb.example.com. 2026120101"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("no %q in %v %s", want, err, out)
		}
	}
	c.set(t, "127.0.2.25")
	answers(t, c.dns, mail, "A", "127.51.100.25")
}
