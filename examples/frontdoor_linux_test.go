package examples_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const frontDoor = "front-door"

// TestFrontDoorCheck: of the last 4 samples 3 must pass, so 2 failures of 5 s
// with 30 s between them turn an origin down. What an origin has to expect is
// told as probes a minute.
func TestFrontDoorCheck(t *testing.T) {
	fast := [3]float64{40, 60, 100}
	checkExample(t, frontDoor, map[string][3]float64{"www/A": fast, "files/A": fast, "shop/A": fast,
		"api/A": {130, 240, 280}, "one/A": {0, 0, 30}})
	out, err := exec.Command(filepath.Join(bin, "gslbd"), "check", "-c", filepath.Join(frontDoor, "gslbd.yaml")).CombinedOutput()
	text := strings.Join(strings.Fields(string(out)), " ")
	for _, want := range []string{" 192.0.2.10:80 2 probe probe-slow ", " 192.0.2.11:80 2 probe "} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("no %q in %v %s", want, err, out)
		}
	}
}

// TestFrontDoorProbe: a HEAD to which 200 alone is a good answer.
func TestFrontDoorProbe(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	var seen atomic.Pointer[http.Request]
	address := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r)
		w.Header().Set("Location", "/")
		w.WriteHeader(int(status.Load()))
	}).addr
	for check, method := range map[string]string{"probe": "HEAD", "probe-slow": "HEAD", "probe-get": "GET"} {
		for _, code := range []int64{200, 201, 204, 301, 307, 403, 404, 500, 503} {
			status.Store(code)
			want := "pass"
			if code != 200 {
				want = fmt.Sprintf("fail status %d, want 200", code)
			}
			expectProbe(t, frontDoor, check, address, want)
		}
		r := seen.Load()
		if r.Method != method || r.URL.Path != "/health" || r.Host != "origin.example.com" || r.UserAgent() != "gslbd Health Probe" {
			t.Errorf("%s: %s %s, Host %s, User-Agent %s", check, r.Method, r.URL, r.Host, r.UserAgent())
		}
	}
	// No valid HTTP answer is a failure.
	garbage := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			io.WriteString(conn, "220 mail.example.com ESMTP\r\n")
			conn.Close()
		}
	})
	expectProbe(t, frontDoor, "probe", garbage.addr, `fail reply is not HTTP: "220 mail.example.com ESMTP\r\n"`)
}

// TestFrontDoorHTTPS: the certificate must be the origin's.
func TestFrontDoorHTTPS(t *testing.T) {
	certificate := trust(t, "origin.example.com")
	origin := newTLSSite(t, "127.0.0.1:0", certificate, nil)
	expectProbe(t, frontDoor, "probe-https", origin.addr, "pass")
}

// origins counts what the servers of the example see.
type origins struct {
	*running
	web   string // port
	sites map[string]*site
	mu    sync.Mutex
	seen  map[string][]string // client addresses of the requests, by server
}

func startFrontDoor(t *testing.T, slow string) *origins {
	t.Helper()
	o := &origins{web: freePort(t), sites: map[string]*site{}, seen: map[string][]string{}}
	for _, ip := range []string{"127.0.2.10", "127.0.2.11", "127.51.100.10", "127.0.2.20"} {
		o.sites[ip] = newSite(t, ip+":"+o.web, func(w http.ResponseWriter, r *http.Request) {
			o.mu.Lock()
			o.seen[ip] = append(o.seen[ip], r.RemoteAddr)
			o.mu.Unlock()
			if r.Method == http.MethodGet { // header and first byte at once, the last one later
				io.WriteString(w, "begin")
				http.NewResponseController(w).Flush()
				<-time.After(lastByte)
				io.WriteString(w, "end")
			}
		})
	}
	o.running = serveExample(t, frontDoor, "port: 80\n", "port: "+o.web+"\n", "port: 443", "port: "+freePort(t),
		"interval: 30s", "interval: 100ms", "interval: 2m", "interval: "+slow)
	return o
}

// lastByte is how long a body takes.
const lastByte = 150 * time.Millisecond

// count waits until a server has seen so many requests.
func (o *origins) count(t *testing.T, ip string, least int) {
	t.Helper()
	eventually(t, ip, func() string {
		o.mu.Lock()
		defer o.mu.Unlock()
		if n := len(o.seen[ip]); n < least {
			return fmt.Sprintf("%d requests, want %d", n, least)
		}
		return ""
	})
}

// TestFrontDoorShared: an origin of two groups sees no more requests than one of
// a single group, each on a new connection, and is down in both at once.
func TestFrontDoorShared(t *testing.T) {
	o := startFrontDoor(t, "150ms")
	o.count(t, "127.0.2.10", 30)
	o.mu.Lock()
	shared, single := o.seen["127.0.2.10"], o.seen["127.0.2.11"]
	o.mu.Unlock()
	if a, b := len(shared), len(single); a*4 > b*5 {
		t.Errorf("%d requests where %d are enough", a, b)
	}
	clients := map[string]bool{}
	for _, addr := range shared {
		clients[addr] = true
	}
	if len(clients) != len(shared) {
		t.Errorf("%d requests on %d connections", len(shared), len(clients))
	}

	const api = "api.gslb.example.com"
	o.sites["127.0.2.10"].set(t, false)
	answers(t, o.dns, api, "A", "127.51.100.10")
	answers(t, o.dns, www, "A", "127.0.2.11")
}

// TestFrontDoorLatency: the clock runs to the last byte of the body.
func TestFrontDoorLatency(t *testing.T) {
	o := startFrontDoor(t, "1s")
	o.wait(t, "files.gslb.example.com", "A", "up down")
	g, err := o.group("files.gslb.example.com", "A")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Pools[0].Members[0].LatencyMS; got < float64(lastByte.Milliseconds()) || got > 5000 {
		t.Errorf("latency %v ms, want at least %s", got, lastByte)
	}
}

// TestFrontDoorAllFailed: all failed, all enabled ones are answered; normal
// again as one recovers.
func TestFrontDoorAllFailed(t *testing.T) {
	o := startFrontDoor(t, "1s")
	const one, two, three = "127.0.2.10", "127.0.2.11", "127.51.100.10"
	answers(t, o.dns, www, "A", one+" "+two)
	for _, step := range []struct{ up, answer string }{
		{two + three, two},
		{three, three},
		{"", one + " " + two + " " + three},
		{three, three},
		{one + three, one},
		{one + two + three, one + " " + two},
	} {
		for ip, s := range o.sites {
			s.set(t, strings.Contains(step.up, ip))
		}
		answers(t, o.dns, www, "A", step.answer)
	}
	answers(t, o.dns, "one.gslb.example.com", "A", "127.0.2.40")
}
