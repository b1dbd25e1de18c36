package probe

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
)

// web2 starts a server that speaks HTTP/2 and nothing else.
func web2(t *testing.T, secure bool, h http.HandlerFunc) (netip.AddrPort, *httptest.Server) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	if secure {
		s.EnableHTTP2 = true
		s.Config.Protocols.SetHTTP2(true)
		s.StartTLS()
	} else {
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
	t.Cleanup(s.Close)
	return netip.MustParseAddrPort(s.Listener.Addr().String()), s
}

func v2(o *HTTP) { o.Version, o.Method = "2", "GET" }

func v2tls(o *HTTP) { v2(o); o.Scheme, o.Verify = "https", false }

func TestHTTP2(t *testing.T) {
	for _, secure := range []bool{false, true} {
		at, _ := web2(t, secure, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.ProtoMajor != 2 || r.Host != "www.example" || r.Header.Get("X-Probe") != "1":
				t.Errorf("asked %s %s %v", r.Proto, r.Host, r.Header)
			case r.Header.Get("Accept-Encoding") != "":
				t.Error("a compressed reply was asked for")
			}
			body, _ := io.ReadAll(r.Body)
			if r.URL.Path == "/moved" {
				http.Redirect(w, r, "/", http.StatusFound)
			}
			if r.URL.Path == "/down" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = io.WriteString(w, r.Method+" "+string(body)+r.Header.Get("User-Agent"))
		})
		for _, c := range []struct {
			change  func(*HTTP)
			outcome Outcome
			reason  string
		}{
			{func(o *HTTP) {}, Pass, ""},
			{func(o *HTTP) { o.Method = "HEAD" }, Pass, ""},
			{func(o *HTTP) { o.ExpectBody = "GET gslbd/test" }, Pass, ""},
			{func(o *HTTP) { o.UserAgent, o.ExpectBody = "", "Go-http" }, Fail, `body does not contain "Go-http"`},
			{func(o *HTTP) { o.Method, o.Body, o.ExpectBody = "POST", "ping", "POST ping" }, Pass, ""},
			{func(o *HTTP) { o.Path = "/down" }, Fail, "status 503, want 2xx"},
			{func(o *HTTP) { o.Path = "/moved" }, Fail, "status 302, want 2xx"},
			{func(o *HTTP) { o.Path, o.Redirects = "/moved", 1 }, Pass, ""},
		} {
			got := run(t, httpCheck(long, func(o *HTTP) {
				v2(o)
				if secure {
					v2tls(o)
				}
				o.Headers = [][2]string{{"X-Probe", "1"}}
				c.change(o)
			}), target(at))
			want(t, got, c.outcome, c.reason)
		}
	}
}

// The steps are those of HTTP/1.1, the first byte of each reply included.
func TestHTTP2Trace(t *testing.T) {
	for _, secure := range []bool{false, true} {
		at, _ := web2(t, secure, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/there", http.StatusFound)
			}
		})
		c := httpCheck(long, func(o *HTTP) { v2(o); o.Redirects = 1 })
		each := "connect request first-byte header "
		if secure {
			v2tls(c.HTTP)
			each = "connect tls request first-byte header "
		}
		p, err := New(c, target(at), true)
		if err != nil {
			t.Fatal(err)
		}
		got, last := "", time.Duration(0)
		for _, s := range Round(context.Background(), p, c).Steps {
			got += strings.ReplaceAll(s.What, " ", "-") + " "
			if s.At < last {
				t.Errorf("%s at %s, after one at %s", s.What, s.At, last)
			}
			last = s.At
		}
		if want := each + "redirect " + each + "last-byte "; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// Each side that lacks the other's version is named.
func TestHTTPVersionMismatch(t *testing.T) {
	plain := web(t, func(w http.ResponseWriter, r *http.Request) {})
	want(t, run(t, httpCheck(long, v2), target(plain)), Fail, "server does not speak HTTP/2")

	at := secure(t, nil, func(http.ResponseWriter, *http.Request) {})
	want(t, run(t, httpCheck(long, v2tls), target(at)), Fail, "server does not offer HTTP/2")

	at, _ = web2(t, false, func(http.ResponseWriter, *http.Request) {})
	got := run(t, httpCheck(short, nil), target(at))
	if got.Outcome != Fail {
		t.Errorf("an HTTP/1.1 probe of an HTTP/2 server: %s %q", word(got.Outcome), got.Reason)
	}
}

func TestHTTP2Hostile(t *testing.T) {
	const settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	for _, c := range []struct {
		about  string
		handle func(net.Conn)
		reason string
	}{
		{"silence", hold, "no reply in 80ms"},
		{"close at once", func(net.Conn) {}, "connection closed before a reply"},
		{"settings, then silence", then(settings, hold), "no reply in 80ms"},
		{"going away", then(settings+"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", hold), "server closed the HTTP/2 connection"},
	} {
		t.Run(c.about, func(t *testing.T) {
			got := run(t, httpCheck(short, v2), target(serve(t, c.handle)))
			want(t, got, Fail, c.reason)
		})
	}
	// A garbage reply has many texts; it is a failure with a bounded one.
	for _, garbage := range []string{strings.Repeat("\xff", 1<<16), "\x00\x00\x00\x01\x05\x00\x00\x00\x01", "hello\r\n"} {
		got := run(t, httpCheck(short, v2), target(serve(t, then(garbage, func(net.Conn) {}))))
		if got.Outcome != Fail || len(got.Reason) > 200 || got.Reason == "" {
			t.Errorf("%s %q", word(got.Outcome), got.Reason)
		}
	}
}

func TestHTTP2EndlessBodyAndHeader(t *testing.T) {
	at, _ := web2(t, false, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/header") {
			for i := range count(r) {
				w.Header().Set("X-"+strconv.Itoa(i), strings.Repeat("x", 100))
			}
			return
		}
		block := []byte(strings.Repeat("x", 4096))
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	c := httpCheck(long, func(o *HTTP) { v2(o); o.ExpectBody = "OK" })
	want(t, run(t, c, target(at)), Fail, `body does not contain "OK" in its first 64 KiB`)
	c = httpCheck(long, func(o *HTTP) { v2(o); o.Path = "/header?n=500" })
	want(t, run(t, c, target(at)), Fail, "response header is longer than 64 KiB")
	c = httpCheck(long, func(o *HTTP) { v2(o); o.Path = "/header?n=900" })
	want(t, run(t, c, target(at)), Fail, "http/2: connection error: PROTOCOL_ERROR")
}

func count(r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	return n
}

func TestHTTP2Cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	at, _ := web2(t, false, func(w http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	c := httpCheck(long, v2)
	p, err := New(c, target(at), false)
	if err != nil {
		t.Fatal(err)
	}
	want(t, Round(ctx, p, c), Fault, "cancelled")
}
