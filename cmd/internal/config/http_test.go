package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"gslbd/health/probe"
	"gslbd/zone"

	"github.com/google/go-cmp/cmp"
)

// expressions lets cmp compare regular expressions.
func expressions() cmp.Option {
	return cmp.Comparer(func(a, b *regexp.Regexp) bool {
		return (a == nil) == (b == nil) && (a == nil || a.String() == b.String())
	})
}

func TestCheckHTTP(t *testing.T) {
	plain := probe.HTTP{Scheme: "http", Port: 80, Method: "HEAD", Path: "/", Version: "1.1", Verify: true,
		Status: []probe.StatusRange{{Low: 200, High: 299}}, UserAgent: userAgent(), OwnAgent: true}
	for options, edit := range map[string]func(*probe.HTTP){
		"":                              func(*probe.HTTP) {},
		"scheme: https":                 func(h *probe.HTTP) { h.Scheme, h.Port = "https", 443 },
		"scheme: HTTPS, port: 80":       func(h *probe.HTTP) { h.Scheme = "https" },
		"scheme: https, port: 8443":     func(h *probe.HTTP) { h.Scheme, h.Port = "https", 8443 },
		"method: get":                   func(h *probe.HTTP) { h.Method = "GET" },
		"method: POST, body: a=b":       func(h *probe.HTTP) { h.Method, h.Body = "POST", "a=b" },
		`path: "/healthz?full=1&x=%20"`: func(h *probe.HTTP) { h.Path = "/healthz?full=1&x=%20" },
		"host: WWW.example.com":         func(h *probe.HTTP) { h.Host = "WWW.example.com" },
		`host: "www.example.com:8080"`:  func(h *probe.HTTP) { h.Host = "www.example.com:8080" },
		`host: "[2001:db8::1]:8080"`:    func(h *probe.HTTP) { h.Host = "[2001:db8::1]:8080" },
		`host: "2001:db8::1"`:           func(h *probe.HTTP) { h.Host = "[2001:db8::1]" },
		"host: my_host.example.com.":    func(h *probe.HTTP) { h.Host = "my_host.example.com" },
		"status: 301":                   func(h *probe.HTTP) { h.Status = []probe.StatusRange{{Low: 301, High: 301}} },
		`status: "2xx, 301"`:            func(h *probe.HTTP) { h.Status = []probe.StatusRange{{Low: 200, High: 299}, {Low: 301, High: 301}} },
		`status: [ 2XX, 301, "400-403", "404" ]`: func(h *probe.HTTP) {
			h.Status = []probe.StatusRange{{Low: 200, High: 299}, {Low: 301, High: 301}, {Low: 400, High: 403}, {Low: 404, High: 404}}
		},
		"method: GET, expect_body: 1.10":               func(h *probe.HTTP) { h.Method, h.ExpectBody = "GET", "1.10" },
		`method: GET, expect_body_regex: "^ok\\b"`:     func(h *probe.HTTP) { h.Method, h.ExpectBodyRegex = "GET", regexp.MustCompile(`^ok\b`) },
		"redirects: 10, redirect_to: any":              func(h *probe.HTTP) { h.Redirects, h.RedirectTo = 10, probe.AnyHost },
		"redirects: 1, redirect_to: same-host":         func(h *probe.HTTP) { h.Redirects = 1 },
		"version: 1.0":                                 func(h *probe.HTTP) { h.Version = "1.0" },
		`version: "1.0"`:                               func(h *probe.HTTP) { h.Version = "1.0" },
		"version: 1.1":                                 func(*probe.HTTP) {},
		"version: 2":                                   func(h *probe.HTTP) { h.Version = "2" },
		`version: "2"`:                                 func(h *probe.HTTP) { h.Version = "2" },
		"scheme: https, verify: false, sni: a.example": func(h *probe.HTTP) { h.Scheme, h.Port, h.Verify, h.SNI = "https", 443, false, "a.example" },
		"verify: false, redirects: 1":                  func(h *probe.HTTP) { h.Verify, h.Redirects = false, 1 },
		"redirects: 1, sni: a.example":                 func(h *probe.HTTP) { h.Redirects, h.SNI = 1, "a.example" },
		"user_agent: probe 1.0":                        func(h *probe.HTTP) { h.UserAgent, h.OwnAgent = "probe 1.0", false },
		`user_agent: ""`:                               func(h *probe.HTTP) { h.UserAgent, h.OwnAgent = "", false },
		`headers: { X-CamelCase: "A: b", x.dotted: 10, Host: www.example.com, Accept: "" }`: func(h *probe.HTTP) {
			h.Headers = [][2]string{{"X-CamelCase", "A: b"}, {"x.dotted", "10"}, {"Host", "www.example.com"}, {"Accept", ""}}
		},
		"headers: {}": func(*probe.HTTP) {},
		"headers:":    func(*probe.HTTP) {},
	} {
		want := plain
		edit(&want)
		check := loadCheck(t, "type: http, "+options)
		if diff := cmp.Diff(&want, check.HTTP, expressions()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", options, diff)
		}
		usable(t, &Config{Checks: map[string]probe.Check{options: check}})
	}
}

// keyPair writes a new certificate and its key.
func keyPair(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert},
		keyFile:  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheckHTTPFiles(t *testing.T) {
	file := write(t, oneZone+`
checks:
  c:
    type: http
    scheme: https
    ca_file: cert.pem
    cert_file: ./cert.pem
    key_file: KEY.pem
    username: probe
    password_file: password
`)
	dir := filepath.Dir(file)
	cert, key, password := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "KEY.pem"), filepath.Join(dir, "password")
	keyPair(t, cert, key)
	if err := os.WriteFile(password, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := Load(file)
	if problems != nil {
		t.Fatal(problems.Error())
	}
	h := c.Checks["c"].HTTP
	got := []string{h.CAFile, h.CertFile, h.KeyFile, h.PasswordFile, h.Username}
	if diff := cmp.Diff([]string{cert, cert, key, password, "probe"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	keyPair(t, filepath.Join(dir, "other.pem"), key)
	if _, problems := Load(file); len(problems) != 1 || problems[0].Line != 8 {
		t.Errorf("a key that belongs to another certificate: %v", problems)
	}
}

// TestWarnings holds what is accepted with a word of caution.
func TestWarnings(t *testing.T) {
	file := write(t, oneZone+"checks:\n  c: { type: http, redirect_to: any, sni: a.example, verify: false }\n")
	c, problems := Load(file)
	want := zone.Problems{
		{File: file, Line: 3, Severity: zone.Warning, Message: "checks.c.redirect_to: has no effect, since redirects is 0", Hint: "redirects: 1 or more"},
		{File: file, Line: 3, Severity: zone.Warning, Message: "checks.c.sni: has no effect with scheme http", Hint: "scheme: https"},
		{File: file, Line: 3, Severity: zone.Warning, Message: "checks.c.verify: has no effect with scheme http", Hint: "scheme: https"},
	}
	if diff := cmp.Diff(want, problems); c == nil || diff != "" {
		t.Errorf("config %v, -want +got:\n%s", c, diff)
	}
}
