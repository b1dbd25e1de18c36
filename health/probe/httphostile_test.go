package probe

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What targets do when they are broken or hostile, and what is said of it.
func TestHTTPHostile(t *testing.T) {
	get := func(o *HTTP) { o.Method = "GET" }
	expect := func(o *HTTP) { o.Method, o.ExpectBody = "GET", "OK" }
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		about   string
		handle  func(net.Conn)
		change  func(*HTTP)
		timeout time.Duration
		outcome Outcome
		reason  string
	}{
		{"silence", hold, nil, short, Fail, "no reply in 80ms"},
		{"close at once", func(net.Conn) {}, nil, long, Fail, "connection closed before a reply"},
		{"reset in the body", then(ok+"Content-Length: 9\r\n\r\nOK", reset), get, long, Fail, "connection closed before the end of the body"},
		{"close after the request", say(""), nil, long, Fail, "connection closed before a reply"},
		{"reset", then("", reset), nil, long, Fail, "connection closed before a reply"},
		{"header in drops", trickle(ok + "\r\n"), nil, short, Fail, "reply incomplete after 80ms"},
		{"body in drops", then(ok+"Content-Length: 99\r\n\r\n", trickle(strings.Repeat("x", 99))), get, short, Fail, "reply incomplete after 80ms"},
		{"body never ends", then(ok+"\r\n", hold), get, short, Fail, "reply incomplete after 80ms"},
		{"garbage", say("\x16\x03\x01\x02garbage\r\n\r\n"), nil, long, Fail, `reply is not HTTP: "\x16\x03\x01\x02garbage\r\n\r\n"`},
		{"garbage without a line", say("nonsense"), nil, long, Fail, `reply is not HTTP: "nonsense"`},
		{"another protocol", say("SSH-2.0-x\r\n"), nil, long, Fail, `reply is not HTTP: "SSH-2.0-x\r\n"`},
		{"another protocol, open", then("SSH-2.0-x", hold), nil, short, Fail, `reply is not HTTP: "SSH-2.0-x"`},
		{"endless garbage", endless("A"), nil, long, Fail, `reply is not HTTP: "` + strings.Repeat("A", 98) + `"…`},
		{"endless header", then(ok, endless("X-A: b\r\n")), nil, long, Fail, "response header is longer than 64 KiB"},
		{"endless header line", then(ok+"X-A: ", endless("b")), nil, long, Fail, "response header is longer than 64 KiB"},
		{"endless status line", then("HTTP/1.1 200 ", endless("b")), nil, long, Fail, "response header is longer than 64 KiB"},
		{"endless interim replies", endless("HTTP/1.1 100 Continue\r\n\r\n"), nil, long, Fail, "response header is longer than 64 KiB"},
		{"interim replies", say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "\r\n"), nil, long, Pass, ""},
		{"interim reply alone", say("HTTP/1.1 100 Continue\r\n\r\n"), nil, long, Fail, "connection closed before the end of the header"},
		{"cut header", say("HTTP/1.1 200 OK\r\nX-A"), nil, long, Fail, "connection closed before the end of the header"},
		{"cut body", say(ok + "Content-Length: 10\r\n\r\nOK"), get, long, Fail, "connection closed before the end of the body"},
		{"cut chunks", say(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n"), get, long, Fail, "connection closed before the end of the body"},
		{"bad chunks", say(ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), get, long, Fail, "body: invalid byte in chunk length"},
		{"chunks of one byte", then(ok+"Transfer-Encoding: chunked\r\n\r\n", endless("1\r\nx\r\n")), get, long, Pass, ""},
		{"chunk padding", then(ok+"Transfer-Encoding: chunked\r\n\r\n", endless("00000000000000001;x\r\nx\r\n")), get, long, Fail, "body: http chunk length too large"},
		{"trailers", say(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\nX: y\r\n\r\n"), expect, long, Pass, ""},
		{"bad length", say(ok + "Content-Length: many\r\n\r\n"), nil, long, Fail, `malformed response: bad Content-Length "many"`},
		{"bad header", say(ok + "no colon\r\n\r\n"), nil, long, Fail, `malformed response: malformed MIME header: missing colon: "no colon"`},
		{"bad status", say("HTTP/1.1 two hundred\r\n\r\n"), nil, long, Fail, `malformed response: malformed HTTP status code "two"`},
		{"other version", say("HTTP/9.9 200 OK\r\n\r\n"), nil, long, Fail, "reply is HTTP/9.9, want HTTP/1.1"},
		{"HTTP/2 alone", then("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64", hold), nil, short, Fail, "reply is HTTP/2, want HTTP/1.1"},
		{"status before a hanging body", then("HTTP/1.1 503 No\r\n\r\n", hold), get, long, Fail, "status 503, want 2xx"},
		{"huge length", then(ok+"Content-Length: 10737418240\r\n\r\n", endless("x")), expect, long, Fail, `body does not contain "OK" in its first 64 KiB`},
		{"10 GiB of body", then(ok+"\r\n", endless("x")), get, long, Pass, ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			want(t, run(t, httpCheck(c.timeout, c.change), target(serve(t, c.handle))), c.outcome, c.reason)
			if took := time.Since(start); took > long/2 {
				t.Errorf("took %s", took)
			}
		})
	}
}

// then reads the request, writes text and goes on with another handler.
func then(text string, next func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			return
		}
		if _, err := io.WriteString(c, text); err == nil {
			next(c)
		}
	}
}

// reset closes with RST.
func reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
}

func TestHTTPConnect(t *testing.T) {
	want(t, run(t, httpCheck(long, nil), target(closedPort(t))), Fail, "connect: connection refused")
}

func TestHTTPCancelled(t *testing.T) {
	for name, text := range map[string]string{"no reply": "", "in the header": "HTTP/1.1 20", "in the body": "HTTP/1.1 200 OK\r\n\r\nx"} {
		ctx, cancel := context.WithCancel(context.Background())
		at := serve(t, then(text, func(c net.Conn) { cancel(); hold(c) }))
		c := httpCheck(long, func(o *HTTP) { o.Method = "GET" })
		p, err := New(c, target(at), false)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { want(t, p.Probe(ctx), Fault, "cancelled") })
	}
}

// A round against a peer without end costs a bounded amount of memory.
func TestHTTPMemory(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, handle := range map[string]func(net.Conn){
		"body":   then(ok+"\r\n", endless("x")),
		"header": then(ok, endless("X-A: b\r\n")),
	} {
		c := httpCheck(long, func(o *HTTP) { o.Method, o.ExpectBodyRegex = "GET", regexp.MustCompile("OK") })
		to := target(serve(t, handle))
		run(t, c, to)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			run(t, c, to)
		}
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) / 10; used > 2<<20 {
			t.Errorf("%s: %d bytes for one probe", name, used)
		}
	}
}

// fakeConn plays a reply; writes vanish.
type fakeConn struct {
	net.Conn
	r io.Reader
}

func (c fakeConn) Read(p []byte) (int, error)  { return c.r.Read(p) }
func (c fakeConn) Write(p []byte) (int, error) { return len(p), nil }

// Whatever a peer sends, there is a verdict with a short text.
func FuzzHTTPReply(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK", "HTTP/1.0 301 x\r\nLocation: //[::1]:99999/\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n", "\x00\x00\x06\x04", "HTTP/1.1 100 \r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	p, err := New(httpCheck(long, func(o *HTTP) { o.Method, o.Redirects, o.ExpectBody = "GET", 3, "OK" }), Target{Addr: netip.IPv6Loopback(), Name: "a.example"}, true)
	if err != nil {
		f.Fatal(err)
	}
	h := p.(*httpProber)
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, tr := context.Background(), h.begin()
		resp, fail := h.request1(ctx, fakeConn{r: strings.NewReader(string(data))}, &h.first, "", tr)
		if fail == nil {
			r := &reply{status: resp.StatusCode, location: resp.Header.Get("Location")}
			if fail = h.readBody(ctx, resp.Body, r, tr); fail == nil {
				fail = h.opts.judge(r)
			}
			if redirectStatus(r.status) && r.location != "" {
				if _, f := h.redirect(&h.first, r, tr); f != nil {
					fail = f
				}
			}
		}
		if fail != nil && (len(fail.reason) > 200 || fail.reason == "" || strings.ContainsAny(fail.reason, "\r\n\x00\x1b")) {
			t.Errorf("reason %q", fail.reason)
		}
		for _, s := range tr.steps {
			if len(s.Info) > 300 || strings.ContainsAny(s.Info, "\r\n\x00\x1b") {
				t.Errorf("step %q", s.Info)
			}
		}
	})
}

// A server that answers before it has read a large body is still heard.
func TestHTTPEarlyReply(t *testing.T) {
	at := web(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusOK) })
	c := httpCheck(long, func(o *HTTP) { o.Method, o.Body = "POST", strings.Repeat("x", 100<<10) })
	want(t, run(t, c, target(at)), Pass, "")
}
