package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// moved answers every request for / with a redirect, others with 200.
func moved(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			return
		}
		if location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
	}
}

func TestRedirectSameHost(t *testing.T) {
	follow := func(n int, more ...StatusRange) func(*HTTP) {
		return func(o *HTTP) { o.Redirects, o.Status = n, append(o.Status, more...) }
	}
	for _, c := range []struct {
		status   int
		location string
		change   func(*HTTP)
		outcome  Outcome
		reason   string
	}{
		{301, "/there", nil, Fail, "status 301, want 2xx"},
		{301, "/there", follow(1), Pass, ""},
		{302, "/there", follow(1), Pass, ""},
		{303, "/there", follow(1), Pass, ""},
		{307, "there?x=1", follow(1), Pass, ""},
		{308, "//www.example/there", follow(1), Pass, ""},
		{302, "http://WWW.example/there", follow(1), Pass, ""},
		{302, "http://www.example./there", follow(1), Pass, ""},
		{302, "http://user:secret@www.example/there", follow(1), Pass, ""},
		{302, "http://127.0.0.1/there", follow(1), Pass, ""},
		{302, "http://[::ffff:127.0.0.1]/there", follow(1), Pass, ""},
		{304, "/there", follow(1), Fail, "status 304, want 2xx"},
		{300, "/there", follow(1), Fail, "status 300, want 2xx"},
		{302, "/", follow(3), Fail, "more than 3 redirects"},
		{302, "/", follow(1), Fail, "more than 1 redirect"},
		{302, "/", follow(2, StatusRange{302, 302}), Pass, ""},
		{301, "", follow(1), Fail, "status 301 without Location, want 2xx"},
		{301, "", follow(1, StatusRange{301, 301}), Pass, ""},
		{301, "http://other.example/", follow(1), Fail, "redirect to other.example refused (redirect_to: same-host)"},
		{301, "http://127.0.0.2/", follow(1), Fail, "redirect to 127.0.0.2 refused (redirect_to: same-host)"},
		{301, "http://[::1]/", follow(1), Fail, "redirect to ::1 refused (redirect_to: same-host)"},
		{301, "//www.example.other/", follow(1), Fail, "redirect to www.example.other refused (redirect_to: same-host)"},
		{301, "ftp://www.example/", follow(1), Fail, `redirect to "ftp://www.example/" cannot be followed`},
		{301, "http://", follow(1), Fail, `redirect to "http://" cannot be followed`},
		{301, "http://www.example:99999/", follow(1), Fail, `redirect to "http://www.example:99999/" cannot be followed`},
		{301, "http://www.example:0/", follow(1), Fail, `redirect to "http://www.example:0/" cannot be followed`},
		{301, "http://a b/", follow(1), Fail, `redirect to "http://a b/" cannot be followed`},
		{301, "%zz:", follow(1), Fail, `redirect to "%zz:" cannot be followed`},
		{301, "mailto:a@b", follow(1), Fail, `redirect to "mailto:a@b" cannot be followed`},
		{301, "http://" + strings.Repeat("x", 200) + "/", follow(1), Fail,
			`redirect to "` + strings.Repeat("x", 98) + `"… refused (redirect_to: same-host)`},
	} {
		at := web(t, moved(c.status, c.location))
		t.Run(fmt.Sprintf("%d %.30s", c.status, c.location), func(t *testing.T) {
			want(t, run(t, httpCheck(long, c.change), target(at)), c.outcome, c.reason)
		})
	}
}

// The member's own address answers, whichever port the redirect names.
func TestRedirectPorts(t *testing.T) {
	at := web(t, func(w http.ResponseWriter, r *http.Request) {})
	front := web(t, moved(302, fmt.Sprintf("http://www.example:%d/there", at.Port())))
	want(t, run(t, httpCheck(long, func(o *HTTP) { o.Redirects = 1 }), target(front)), Pass, "")
	closed := closedPort(t)
	front = web(t, moved(302, fmt.Sprintf("http://www.example:%d/there", closed.Port())))
	want(t, run(t, httpCheck(long, func(o *HTTP) { o.Redirects = 1 }), target(front)), Fail, "connect: connection refused")
}

func TestPortOf(t *testing.T) {
	for _, c := range []struct {
		host, url string
		port      uint16
	}{
		{"a.example", "http://a.example/", 8080},
		{"a.example", "http://a.example:80/", 80},
		{"a.example", "https://a.example/", 443},
		{"a.example", "https://a.example:8443/", 8443},
		{"a.example:81", "http://a.example:81/", 8080},
		{"a.example:81", "http://a.example/", 8080},
		{"a.example", "http://b.example/", 80},
		{"a.example", "http://b.example:81/", 81},
		{"a.example", "https://b.example/", 443},
	} {
		p, err := New(httpCheck(long, func(o *HTTP) { o.Host = c.host }), Target{Addr: local, Port: 8080}, false)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		h := p.(*httpProber)
		if got, err := h.portOf(u, h.names(u)); got != c.port || err != nil {
			t.Errorf("%s from %s: port %d, %v; want %d", c.url, c.host, got, err, c.port)
		}
	}
}

func TestRedirectMethod(t *testing.T) {
	for _, c := range []struct {
		method, body string
		status       int
		want         string
	}{
		{"HEAD", "", 302, "HEAD "}, {"HEAD", "", 303, "HEAD "}, {"GET", "", 307, "GET "},
		{"POST", "x", 301, "GET "}, {"POST", "x", 302, "GET "}, {"POST", "x", 303, "GET "},
		{"POST", "x", 307, "POST x"}, {"POST", "x", 308, "POST x"}, {"GET", "x", 303, "GET "},
	} {
		seen := make(chan string, 1)
		at := web(t, func(w http.ResponseWriter, r *http.Request) {
			moved(c.status, "/there")(w, r)
			if r.URL.Path == "/there" {
				var body strings.Builder
				_ = r.Write(&body)
				_, text, _ := strings.Cut(body.String(), "\r\n\r\n")
				seen <- r.Method + " " + text
			}
		})
		want(t, run(t, httpCheck(long, func(o *HTTP) { o.Method, o.Body, o.Redirects = c.method, c.body, 1 }), target(at)), Pass, "")
		if got := <-seen; got != c.want {
			t.Errorf("%s after %d became %q, want %q", c.method, c.status, got, c.want)
		}
	}
}

// redirect_to any goes to the named server, which gets no credentials, and
// whose status decides; the member's own name still means the member.
func TestRedirectAnyHost(t *testing.T) {
	header := make(chan http.Header, 1)
	host := make(chan string, 1)
	other := serveOn(t, "127.0.0.2:0", say("HTTP/1.1 204 x\r\n\r\n"))
	seeing := web(t, func(w http.ResponseWriter, r *http.Request) { header <- r.Header; host <- r.Host })
	anyHost := func(o *HTTP) { o.Redirects, o.RedirectTo = 1, AnyHost }

	front := web(t, moved(301, "http://"+other.String()+"/x"))
	want(t, run(t, httpCheck(long, anyHost), target(front)), Pass, "")

	front = web(t, moved(301, "http://"+closedPort(t).String()+"/x"))
	want(t, run(t, httpCheck(long, anyHost), target(front)), Fail, "connect: connection refused")

	front = web(t, moved(301, "http://www.example/there"))
	want(t, run(t, httpCheck(long, anyHost), target(front)), Pass, "")

	front = web(t, moved(301, fmt.Sprintf("http://localhost:%d/there", seeing.Port())))
	got := run(t, httpCheck(long, func(o *HTTP) {
		anyHost(o)
		o.Username = "op"
		o.Headers = [][2]string{{"Cookie", "a=b"}, {"X-Probe", "1"}}
	}), target(front))
	want(t, got, Pass, "")
	if h := <-header; h.Get("Authorization") != "" || h.Get("Cookie") != "" || h.Get("X-Probe") != "1" {
		t.Errorf("the other server was sent %v", h)
	}
	if got := <-host; got != fmt.Sprintf("localhost:%d", seeing.Port()) {
		t.Errorf("the other server was asked for %s", got)
	}
}

// Credentials do not travel in the clear when the check says https.
func TestRedirectDowngrade(t *testing.T) {
	p, err := New(httpCheck(long, func(o *HTTP) { o.Scheme, o.Username = "https", "op" }), Target{Addr: local, Name: "a.example"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for scheme, sent := range map[string]bool{"http": false, "https": true} {
		h := hop{url: &url.URL{Scheme: scheme, Host: "a.example", Path: "/"}, method: "HEAD", own: true}
		if got := strings.Contains(string(p.(*httpProber).message(&h, "Basic x")), "Authorization"); got != sent {
			t.Errorf("%s: sent is %v", scheme, got)
		}
	}
}

func TestRedirectResolve(t *testing.T) {
	other := serveOn(t, "127.0.0.2:0", say("HTTP/1.1 200 OK\r\n\r\n"))
	front := web(t, moved(301, fmt.Sprintf("http://other.example:%d/", other.Port())))
	found := netip.MustParseAddr("127.0.0.2")
	closed := netip.MustParseAddr("127.0.0.3")
	for _, c := range []struct {
		about   string
		addrs   []netip.Addr
		err     error
		source  string
		outcome Outcome
		reason  string
	}{
		{"found", []netip.Addr{found}, nil, "", Pass, ""},
		{"the second answers", []netip.Addr{closed, found}, nil, "", Pass, ""},
		{"none answers", []netip.Addr{closed}, nil, "", Fail, "connect: connection refused"},
		{"from the source", []netip.Addr{found}, nil, "127.0.0.9", Pass, ""},
		{"no source of the family", []netip.Addr{netip.IPv6Loopback()}, nil, "127.0.0.9", Fault, "no IPv6 source address for target ::1"},
		{"refused, and no source of the other's family", []netip.Addr{closed, netip.IPv6Loopback()}, nil, "127.0.0.9", Fail, "connect: connection refused"},
		{"no source of one's family, and refused", []netip.Addr{netip.IPv6Loopback(), closed}, nil, "127.0.0.9", Fail, "connect: connection refused"},
		{"no such name", nil, &net.DNSError{IsNotFound: true}, "", Fail, "redirect to other.example: no such host"},
		{"no address", nil, nil, "", Fail, "redirect to other.example: no such host"},
		{"no resolver", nil, &net.DNSError{IsTemporary: true}, "", Fault, "redirect to other.example: the resolver does not answer"},
		{"other error", nil, errors.New("boom"), "", Fault, "redirect to other.example: the resolver does not answer"},
	} {
		t.Run(c.about, func(t *testing.T) {
			check := httpCheck(long, func(o *HTTP) { o.Redirects, o.RedirectTo = 1, AnyHost })
			if c.source != "" {
				check.Source = []netip.Addr{netip.MustParseAddr(c.source)}
			}
			p, err := New(check, target(front), false)
			if err != nil {
				t.Fatal(err)
			}
			p.(*httpProber).lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
				if host != "other.example" {
					t.Errorf("looked up %s", host)
				}
				return c.addrs, c.err
			}
			want(t, Round(context.Background(), p, check), c.outcome, c.reason)
		})
	}
}
