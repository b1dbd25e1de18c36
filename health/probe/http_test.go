package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// capture is a server that answers 200 and remembers the bytes it was sent.
func capture(t *testing.T) (netip.AddrPort, <-chan string) {
	seen := make(chan string, 8)
	at := serve(t, func(c net.Conn) {
		var raw strings.Builder
		br := bufio.NewReader(io.TeeReader(c, &raw))
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		seen <- raw.String()
	})
	return at, seen
}

// The request is what the options say, to the byte.
func TestHTTPRequest(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const tail = "User-Agent: gslbd/test\r\nAccept: */*\r\n"
	for _, c := range []struct {
		about  string
		change func(*HTTP)
		want   string
	}{
		{"defaults", nil, "HEAD / HTTP/1.1\r\nHost: www.example\r\n" + tail + "Connection: close\r\n\r\n"},
		{"zero options", func(o *HTTP) { *o = HTTP{} }, "HEAD / HTTP/1.1\r\nHost: www.example\r\nAccept: */*\r\nConnection: close\r\n\r\n"},
		{"GET with query", func(o *HTTP) { o.Method, o.Path = "GET", "/health?deep=1&x=%20" },
			"GET /health?deep=1&x=%20 HTTP/1.1\r\nHost: www.example\r\n" + tail + "Connection: close\r\n\r\n"},
		{"HTTP/1.0", func(o *HTTP) { o.Version = "1.0" }, "HEAD / HTTP/1.0\r\nHost: www.example\r\n" + tail + "\r\n"},
		{"POST", func(o *HTTP) { o.Method, o.Body = "POST", "ping" },
			"POST / HTTP/1.1\r\nHost: www.example\r\n" + tail + "Connection: close\r\nContent-Length: 4\r\n\r\nping"},
		{"empty POST", func(o *HTTP) { o.Method = "POST" },
			"POST / HTTP/1.1\r\nHost: www.example\r\n" + tail + "Connection: close\r\nContent-Length: 0\r\n\r\n"},
		{"host", func(o *HTTP) { o.Host = "shop.example:8080" }, "HEAD / HTTP/1.1\r\nHost: shop.example:8080\r\n" + tail + "Connection: close\r\n\r\n"},
		{"headers", func(o *HTTP) { o.Headers = [][2]string{{"x-b", "2"}, {"X-A", "1"}, {"X-A", "3"}} },
			"HEAD / HTTP/1.1\r\nHost: www.example\r\nX-B: 2\r\nX-A: 1\r\nX-A: 3\r\n" + tail + "Connection: close\r\n\r\n"},
		{"Host among the headers", func(o *HTTP) { o.Headers = [][2]string{{"host", "cdn.example"}} },
			"HEAD / HTTP/1.1\r\nHost: cdn.example\r\n" + tail + "Connection: close\r\n\r\n"},
		{"host wins over the header", func(o *HTTP) { o.Host, o.Headers = "a.example", [][2]string{{"Host", "b.example"}} },
			"HEAD / HTTP/1.1\r\nHost: a.example\r\n" + tail + "Connection: close\r\n\r\n"},
		{"own headers replace ours", func(o *HTTP) {
			o.Headers = [][2]string{{"User-Agent", "me"}, {"Accept", "text/plain"}, {"Connection", "Upgrade"}}
		}, "HEAD / HTTP/1.1\r\nHost: www.example\r\nUser-Agent: me\r\nAccept: text/plain\r\nConnection: Upgrade\r\n\r\n"},
		{"basic auth", func(o *HTTP) { o.Username, o.PasswordFile = "op", secret },
			"HEAD / HTTP/1.1\r\nHost: www.example\r\n" + tail + "Connection: close\r\nAuthorization: Basic b3A6czNjcmV0\r\n\r\n"},
		{"user without password", func(o *HTTP) { o.Username, o.Headers = "op", [][2]string{{"Authorization", "other"}} },
			"HEAD / HTTP/1.1\r\nHost: www.example\r\n" + tail + "Connection: close\r\nAuthorization: Basic b3A6\r\n\r\n"},
	} {
		at, seen := capture(t)
		want(t, run(t, httpCheck(long, c.change), target(at)), Pass, "")
		if diff := cmp.Diff(c.want, <-seen); diff != "" {
			t.Errorf("%s: %s", c.about, diff)
		}
	}
}

func TestHTTPHost(t *testing.T) {
	for _, c := range []struct{ name, addr, want, sni string }{
		{"www.example", "127.0.0.1", "www.example", "www.example"},
		{"*.cdn.example", "127.0.0.1", "probe.cdn.example", "probe.cdn.example"},
		{"", "127.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"", "2001:db8::1", "[2001:db8::1]", "2001:db8::1"},
		{"", "fe80::1%eth0", "[fe80::1]", "fe80::1"},
	} {
		o := HTTP{}
		to := Target{Addr: netip.MustParseAddr(c.addr), Name: c.name}
		if got := o.effectiveHost(to); got != c.want {
			t.Errorf("host %s, want %s", got, c.want)
		}
		if got := o.serverName(to); got != c.sni {
			t.Errorf("sni %s, want %s", got, c.sni)
		}
	}
	for host, want := range map[string]string{"a.example:8443": "a.example", "[::1]:80": "::1", "[::1]": "::1", "a.example.": "a.example"} {
		if got := (&HTTP{Host: host}).serverName(Target{}); got != want {
			t.Errorf("sni of %s is %s, want %s", host, got, want)
		}
	}
	if got := (&HTTP{Host: "a", SNI: "b"}).serverName(Target{}); got != "b" {
		t.Errorf("sni %s, want b", got)
	}
}

func TestHTTPRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*HTTP)
		name   string
		want   string
	}{
		{func(o *HTTP) { o.Method = "PUT" }, "a", `"PUT" is not one of HEAD GET POST`},
		{func(o *HTTP) { o.Scheme = "ftp" }, "a", `"ftp" is not one of http https`},
		{func(o *HTTP) { o.Version = "3" }, "a", `"3" is not one of 1.1 1.0 2`},
		{func(o *HTTP) { o.Path = "health" }, "a", `path "health" does not begin with / or has a bad escape`},
		{func(o *HTTP) { o.Path = "http://other.example/" }, "a", `path "http://other.example/" does not begin with / or has a bad escape`},
		{func(o *HTTP) { o.Path = "/%zz" }, "a", `path "/%zz" does not begin with / or has a bad escape`},
		{func(o *HTTP) { o.Path = "/\r\nX: y" }, "a", `path "/\r\nX: y" does not begin with / or has a bad escape`},
		{func(o *HTTP) { o.Host = "a\r\nX: y" }, "a", `host "a\r\nX: y" cannot be sent as a Host header (set host)`},
		{nil, "a b", `host "a b" cannot be sent as a Host header (set host)`},
		{func(o *HTTP) { o.Headers = [][2]string{{"A", "b\nc"}} }, "a", `header "A: b\nc" cannot be sent`},
		{func(o *HTTP) { o.Headers = [][2]string{{"A b", "c"}} }, "a", `header "A b: c" cannot be sent`},
		{func(o *HTTP) { o.Headers = [][2]string{{"content-length", "7"}} }, "a", `header Content-Length is not for a check to set`},
		{func(o *HTTP) { o.Version, o.Headers = "2", [][2]string{{"Upgrade", "x"}} }, "a", `header Upgrade is not for a check to set`},
		{func(o *HTTP) { o.UserAgent = "a\nb" }, "a", `user_agent "a\nb" cannot be sent`},
	} {
		_, err := New(httpCheck(long, c.change), Target{Addr: local, Name: c.name}, false)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestHTTPStatus(t *testing.T) {
	ranges := func(r ...StatusRange) func(*HTTP) { return func(o *HTTP) { o.Status = r } }
	for _, c := range []struct {
		reply   string
		change  func(*HTTP)
		outcome Outcome
		reason  string
	}{
		{"200 OK", nil, Pass, ""},
		{"204 No Content", nil, Pass, ""},
		{"299 Odd", nil, Pass, ""},
		{"200", nil, Pass, ""},
		{"503 Service Unavailable", nil, Fail, "status 503, want 2xx"},
		{"301 Moved Permanently", nil, Fail, "status 301, want 2xx"},
		{"301 Moved Permanently", ranges(StatusRange{301, 301}), Pass, ""},
		{"404 Not Found", ranges(StatusRange{200, 299}, StatusRange{301, 301}), Fail, "status 404, want 2xx or 301"},
		{"399 Odd", ranges(StatusRange{200, 399}), Pass, ""},
		{"400 Bad Request", ranges(StatusRange{200, 399}), Fail, "status 400, want 200-399"},
		{"500 Oops", ranges(StatusRange{500, 599}), Pass, ""},
		{"101 Switching Protocols", ranges(StatusRange{100, 199}), Pass, ""},
		{"000 Nothing", nil, Fail, "status 000, want 2xx"},
		{"999 Denied", nil, Fail, "status 999, want 2xx"},
	} {
		for _, version := range []string{"1.0", "1.1"} {
			at := serve(t, say("HTTP/"+version+" "+c.reply+"\r\n\r\n"))
			got := run(t, httpCheck(long, func(o *HTTP) {
				o.Version = version
				if c.change != nil {
					c.change(o)
				}
			}), target(at))
			want(t, got, c.outcome, c.reason)
		}
	}
}

func TestHTTPBody(t *testing.T) {
	text := func(s string) func(*HTTP) { return func(o *HTTP) { o.Method, o.ExpectBody = "GET", s } }
	regex := func(s string) func(*HTTP) {
		return func(o *HTTP) { o.Method, o.ExpectBodyRegex = "GET", regexp.MustCompile(s) }
	}
	padding := strings.Repeat("x", maxRead)
	for _, c := range []struct {
		about, body string
		change      func(*HTTP)
		outcome     Outcome
		reason      string
	}{
		{"contained", "all OK here", text("OK"), Pass, ""},
		{"not contained", "all is lost", text("OK"), Fail, `body does not contain "OK"`},
		{"empty", "", text("OK"), Fail, `body does not contain "OK"`},
		{"regex", "load 0.7", regex(`load 0\.\d`), Pass, ""},
		{"regex not matched", "load 1.7", regex(`load 0\.\d`), Fail, `body does not match "load 0\\.\\d"`},
		{"both", "OK 1", func(o *HTTP) { text("OK")(o); regex("2$")(o) }, Fail, `body does not match "2$"`},
		{"beyond 64 KiB", padding + "OK", text("OK"), Fail, `body does not contain "OK" in its first 64 KiB`},
		{"at the end of 64 KiB", padding[2:] + "OK" + padding, text("OK"), Pass, ""},
		{"HEAD has none", "OK", func(o *HTTP) { text("OK")(o); o.Method = "HEAD" }, Fail, `body does not contain "OK"`},
		{"large and not asked", padding + padding, func(o *HTTP) { o.Method = "GET" }, Pass, ""},
	} {
		at := web(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, c.body) })
		for _, version := range []string{"1.0", "1.1"} {
			t.Run(c.about+" "+version, func(t *testing.T) {
				got := run(t, httpCheck(long, func(o *HTTP) { c.change(o); o.Version = version }), target(at))
				want(t, got, c.outcome, c.reason)
			})
		}
	}
}

// A compressed body is judged as it is; nothing is expanded.
func TestHTTPNoDecompression(t *testing.T) {
	at := web(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "" {
			t.Errorf("Accept-Encoding: %s", got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "OK, not really gzip")
	})
	want(t, run(t, httpCheck(long, func(o *HTTP) { o.Method, o.ExpectBody = "GET", "not really" }), target(at)), Pass, "")
}

// The proxy of the environment is for others; each try is a new connection.
func TestHTTPNoProxyNewConnections(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	peers := map[string]bool{}
	at := web(t, func(w http.ResponseWriter, r *http.Request) {
		peers[r.RemoteAddr] = true
		if r.Header.Get("Cookie") != "" {
			t.Error("a cookie came back")
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
	})
	c := httpCheck(long, nil)
	p, err := New(c, target(at), false)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		want(t, Round(context.Background(), p, c), Pass, "")
	}
	if len(peers) != 3 {
		t.Errorf("%d connections for 3 probes", len(peers))
	}
}

func TestHTTPPasswordFile(t *testing.T) {
	at := web(t, func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "new" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	file := filepath.Join(t.TempDir(), "p")
	c := httpCheck(long, func(o *HTTP) { o.Username, o.PasswordFile = "op", file })
	p, err := New(c, target(at), false)
	if err != nil {
		t.Fatal(err)
	}
	probe := func() Result { return Round(context.Background(), p, c) }
	want(t, probe(), Fault, "password_file: open "+file+": no such file or directory")
	for _, step := range []struct {
		text    string
		outcome Outcome
		reason  string
	}{
		{"old\n", Fail, "status 401, want 2xx"},
		{"new\n", Pass, ""},
		{strings.Repeat("x", 5000), Fault, "password_file: " + file + " is longer than 4096 bytes"},
	} {
		if err := os.WriteFile(file, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		want(t, probe(), step.outcome, step.reason)
	}
}

// Latency runs to the last byte, which here comes after a pause.
func TestHTTPLatency(t *testing.T) {
	const pause = 60 * time.Millisecond
	at := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-time.After(pause)
		fmt.Fprint(w, "end")
	})
	r := run(t, httpCheck(long, func(o *HTTP) { o.Method = "GET" }), target(at))
	want(t, r, Pass, "")
	if r.Latency < pause {
		t.Errorf("latency %s does not reach the last byte", r.Latency)
	}
}

func TestHTTPTrace(t *testing.T) {
	at := web(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		fmt.Fprint(w, "hello")
	})
	c := httpCheck(long, func(o *HTTP) { o.Method, o.Redirects = "GET", 1 })
	p, err := New(c, target(at), true)
	if err != nil {
		t.Fatal(err)
	}
	r := Round(context.Background(), p, c)
	want(t, r, Pass, "")
	var got []string
	last := time.Duration(0)
	for _, s := range r.Steps {
		if s.At < last {
			t.Errorf("%s at %s, after %s", s.What, s.At, last)
		}
		last = s.At
		got = append(got, strings.TrimSpace(s.What+" "+s.Info))
	}
	wanted := []string{
		"connect " + at.String(), "request GET / HTTP/1.1, host www.example", "first byte", "header HTTP/1.1 302 Found",
		"redirect 302 to http://www.example/there",
		"connect " + at.String(), "request GET /there HTTP/1.1, host www.example", "first byte", "header HTTP/1.1 200 OK",
		"last byte 5 bytes of body",
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
	if last > r.Latency {
		t.Errorf("last step at %s, latency %s", last, r.Latency)
	}
}

func BenchmarkHTTP(b *testing.B) {
	at := serve(b, say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nOK"))
	for _, method := range []string{"HEAD", "GET"} {
		b.Run(method, func(b *testing.B) {
			c := httpCheck(long, func(o *HTTP) { o.Method = method })
			p, err := New(c, target(at), false)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if r := Round(context.Background(), p, c); r.Outcome != Pass {
					b.Fatal(r.Reason)
				}
			}
		})
	}
}
