package examples_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

const edgeOne = "edgeone"

// TestEdgeOneCheck: the published 75 s, the defaults, the least and the most.
func TestEdgeOneCheck(t *testing.T) {
	published, defaults := [3]float64{75, 60, 165}, [3]float64{40, 60, 130}
	checkExample(t, edgeOne, map[string][3]float64{
		"www/A": published, "api/A": published, "old/A": published, "shop/A": published, "codes/A": published,
		"tcp/A": defaults, "game/A": defaults, "ping/A": defaults,
		"fast/A": {1, 0, 91}, "slow/A": {2550, 2400, 3210},
	})
}

// statusSite answers everything with a status, and remembers the last request.
func statusSite(t *testing.T, status *atomic.Int64, seen *atomic.Pointer[http.Request]) string {
	t.Helper()
	return newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r)
		w.WriteHeader(int(status.Load()))
	}).addr
}

// TestEdgeOneClasses: each class of statuses passes where it is asked for, and
// no other does.
func TestEdgeOneClasses(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	var seen atomic.Pointer[http.Request]
	address := statusSite(t, &status, &seen)
	for _, code := range []int64{101, 200, 204, 299, 300, 301, 302, 304, 399, 400, 404, 499, 500, 503, 599} {
		status.Store(code)
		for check, classes := range map[string]string{
			"web": "2xx", "class-1xx": "1xx", "class-3xx": "3xx", "class-4xx": "4xx", "class-5xx": "5xx", "classes": "2xx or 3xx",
		} {
			want := "pass"
			if !strings.Contains(classes, fmt.Sprintf("%dxx", code/100)) {
				want = fmt.Sprintf("fail status %d, want %s", code, classes)
			}
			expectProbe(t, edgeOne, check, address, want)
		}
	}
	if r := seen.Load(); r.Method != "HEAD" || r.URL.Path != "/" {
		t.Errorf("probed with %s %s", r.Method, r.URL)
	}
}

// TestEdgeOneHeaders: a GET with eight headers, Host among them.
func TestEdgeOneHeaders(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	var seen atomic.Pointer[http.Request]
	status.Store(200)
	expectProbe(t, edgeOne, "web-headers", statusSite(t, &status, &seen), "pass")
	r := seen.Load()
	if r.Method != "GET" || r.URL.String() != "/status?from=probe" || r.Host != "www.example.com" {
		t.Errorf("probed with %s %s, Host %s", r.Method, r.URL, r.Host)
	}
	for name, want := range map[string]string{"X-Probe": "gslbd", "X-Probe-Region": "tokyo", "Accept": "text/plain",
		"Accept-Language": "en", "Cache-Control": "no-cache", "Cookie": "probe=1", "User-Agent": "health check"} {
		if got := r.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q once", name, got, want)
		}
	}
}

// TestEdgeOneRedirects: 301 and 302 are followed at most three times, and the
// last status decides. Without the option a redirect is a status like others.
func TestEdgeOneRedirects(t *testing.T) {
	t.Parallel()
	var hops atomic.Int64
	// /N/STATUS/LAST redirects with STATUS N times and then answers LAST.
	reply := func(w http.ResponseWriter, path, to string) {
		part := strings.Split(path, "/")
		hops.Add(1)
		n, _ := strconv.Atoi(part[1])
		code, _ := strconv.Atoi(part[2])
		if n == 0 {
			code, _ = strconv.Atoi(part[3])
		}
		w.Header().Set("Location", fmt.Sprintf("%s/%d/%s/%s", to, n-1, part[2], part[3]))
		w.WriteHeader(code)
	}
	elsewhere := newSite(t, "127.0.0.2:0", func(w http.ResponseWriter, r *http.Request) { reply(w, r.URL.Path, "") })
	for _, c := range []struct{ start, want string }{
		{"/1/301/200", "pass"},
		{"/3/301/200", "pass"},
		{"/3/302/204", "pass"},
		{"/3/302/404", "fail status 404, want 2xx"},
		{"/1/301/503", "fail status 503, want 2xx"},
		{"/4/302/200", "fail more than 3 redirects"},
		{"/100/301/200", "fail more than 3 redirects"},
	} {
		hops.Store(0)
		address := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) {
			reply(w, c.start, "http://"+elsewhere.addr)
		}).addr
		expectProbe(t, edgeOne, "web-redirects", address, c.want)
		if n := hops.Load(); n > 4 {
			t.Errorf("%s: %d requests, want at most 4", c.start, n)
		}
		want := "fail status " + strings.Split(c.start, "/")[2] + ", want 2xx"
		expectProbe(t, edgeOne, "web", address, want)
		expectProbe(t, edgeOne, "class-3xx", address, "pass")
	}
}

// TestEdgeOneTCP: the handshake passes and is ended with RST; refusal fails at
// once, and silence after the timeout.
func TestEdgeOneTCP(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.8.2:0") // where no other test listens when this one has closed the port
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		ended <- err
	}()
	expectProbe(t, edgeOne, "port-open", listener.Addr().String(), "pass")
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ended with %v, want a reset", err)
	}
	listener.Close()
	awaitRefusal(t, listener.Addr().String())
	expectProbe(t, edgeOne, "port-open", listener.Addr().String(), "fail connect: connection refused")
	expectProbe(t, edgeOne, "quick", silentPort(t), "fail connect: no reply in 1s")
}

// TestEdgeOneICMP: a reply passes. That silence fails is shown where addresses
// can be silent: health/probe, in a network namespace.
func TestEdgeOneICMP(t *testing.T) {
	t.Parallel()
	p := probeExample(t, edgeOne, "ping", "127.0.0.1")
	if p.Outcome == "fault" && os.Getenv("CI") == "" {
		t.Skipf("may not ping: %s", p.Reason)
	}
	if p.Outcome != "pass" || p.LatencyMS <= 0 {
		t.Errorf("got %+v", p)
	}
}

// udpSite replies to every datagram; nothing where reply is "".
func udpSite(t *testing.T, address string, reply, seen *atomic.Value) *net.UDPConn {
	t.Helper()
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDP(buf)
			if err != nil {
				return
			}
			seen.Store(string(buf[:n]))
			if text := reply.Load().(string); text != "" {
				conn.WriteToUDP([]byte(text), from)
			}
		}
	}()
	return conn
}

// TestEdgeOneUDP: request text out, reply text back; another reply and none fail.
func TestEdgeOneUDP(t *testing.T) {
	t.Parallel()
	var reply, seen atomic.Value
	conn := udpSite(t, "127.0.0.1:0", &reply, &seen)
	address := conn.LocalAddr().String()
	for _, c := range []struct{ reply, want string }{
		{"I am", "pass"},
		{"I am not", `fail reply "I am not", want "I am"`},
		{"i am", `fail reply "i am", want "I am"`},
		{"", "fail no reply in 5s"},
	} {
		reply.Store(c.reply)
		expectProbe(t, edgeOne, "reply", address, c.want)
		if got := seen.Load(); got != "are you there?" {
			t.Errorf("asked %q", got)
		}
	}
	conn.Close()
	expectProbe(t, edgeOne, "reply", address, "fail port unreachable")
}

// TestEdgeOneSwitch: the zone's names leave what fails, whatever the check.
func TestEdgeOneSwitch(t *testing.T) {
	certificate := trust(t, "another.example.com")
	port, tls := freePort(t), freePort(t)
	r := serveExample(t, edgeOne, "port: 80\n", "port: "+port+"\n", "port: 443", "port: "+tls,
		"interval: 30s", "interval: 100ms", "interval: 600s", "interval: 100ms")
	var game, other, seen atomic.Value
	other.Store("I am")
	game.Store("I am")
	web := newSite(t, "127.0.2.10:"+port, nil)
	moved := newSite(t, "127.0.2.12:"+port, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/there", http.StatusMovedPermanently)
		}
	})
	shop := newTLSSite(t, "127.0.2.13:"+tls, certificate, nil)
	open := newSite(t, "127.0.2.20:"+port, nil)
	udpSite(t, "127.0.2.21:"+port, &game, &seen)
	for _, last := range []string{"10", "12", "13", "20"} {
		if last == "13" {
			newTLSSite(t, "127.51.100.13:"+tls, certificate, nil)
			continue
		}
		newSite(t, "127.51.100."+last+":"+port, nil)
	}
	udpSite(t, "127.51.100.21:"+port, &other, &seen)
	names := map[string]string{"www": "10", "old": "12", "shop": "13", "tcp": "20", "game": "21"}
	for name, last := range names {
		r.wait(t, name+".gslb.example.com", "A", "up up")
		answers(t, r.dns, name+".gslb.example.com", "A", "127.0.2."+last)
	}
	for _, s := range []*site{web, moved, shop, open} {
		s.set(t, false)
	}
	game.Store("no")
	for name, last := range names {
		answers(t, r.dns, name+".gslb.example.com", "A", "127.51.100."+last)
	}
	web.set(t, true)
	game.Store("I am")
	answers(t, r.dns, www, "A", "127.0.2.10")
	answers(t, r.dns, "game.gslb.example.com", "A", "127.0.2.21")
}
