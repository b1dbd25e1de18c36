package probe

import (
	"net/netip"
	"reflect"
	"regexp"
	"testing"
	"time"
)

// notProbing are the fields of Check that do not change what is sent.
var notProbing = map[string]bool{"Name": true, "Interval": true, "Fall": true, "Rise": true, "Window": true}

func fullChecks() map[string]Check {
	base := Check{Name: "n", Interval: time.Second, Timeout: time.Second, Retries: 1, Fall: 1, Rise: 1,
		Window: &Window{3, 2}, Source: []netip.Addr{netip.MustParseAddr("127.0.0.5")}}
	icmp, tcp, http := base, base, base
	icmp.Type, icmp.ICMP = "icmp", &ICMP{Count: 1, Size: 24}
	tcp.Type, tcp.TCP = "tcp", &TCP{Port: 80, Send: []byte("a"), Expect: []byte("b")}
	http.Type, http.HTTP = "http", &HTTP{
		Scheme: "http", Port: 80, Method: "GET", Path: "/", Host: "h.example", Headers: [][2]string{{"A", "b"}},
		Body: "x", Status: []StatusRange{{200, 299}}, ExpectBody: "OK", ExpectBodyRegex: regexp.MustCompile("O"),
		Redirects: 1, Version: "1.1", Verify: true, SNI: "s.example", CAFile: "ca", CertFile: "c", KeyFile: "k",
		UserAgent: "u", Username: "n", PasswordFile: "p",
	}
	tls, udp, dns := base, base, base
	tls.Type, tls.TLS = "tls", &TLS{Port: 443, SNI: "s.example", Verify: true, CAFile: "ca", MinDays: 14}
	udp.Type, udp.UDP = "udp", &UDP{Port: 80, Send: []byte("a"), Expect: []byte("b")}
	dns.Type, dns.DNS = "dns", &DNS{Port: 53, QName: "q.example", QType: 1, RCode: 0, Expect: []string{"192.0.2.1"}}
	grpc, exec, file := base, base, base
	grpc.Type, grpc.GRPC = "grpc", &GRPC{Port: 443, Service: "s", TLS: true, Verify: true, SNI: "s.example", CAFile: "ca"}
	exec.Type, exec.Exec = "exec", &Exec{Command: []string{"a", "{address}"}, Env: [][2]string{{"A", "b"}}, Dir: "/", MaxRunning: 16}
	file.Type, file.File = "file", &File{Path: "p", MaxAge: time.Minute}
	return map[string]Check{"grpc": grpc, "exec": exec, "file": file, "tls": tls, "udp": udp, "dns": dns, "icmp": icmp, "tcp": tcp, "http": http}
}

// flip gives a field another value of its type.
func flip(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *[]netip.Addr:
		*x = []netip.Addr{netip.MustParseAddr("127.0.0.6")}
	case **regexp.Regexp:
		*x = regexp.MustCompile("other")
	case **Window:
		*x = nil
	case *[][2]string:
		*x = [][2]string{{"A", "c"}}
	case *[]string:
		*x = []string{"192.0.2.2"}
	case *[]StatusRange:
		*x = []StatusRange{{200, 204}}
	case *[]byte:
		*x = []byte("other")
	default:
		switch {
		case v.CanInt():
			v.SetInt(v.Int() + 1)
		case v.CanUint():
			v.SetUint(v.Uint() + 1)
		case v.Kind() == reflect.String:
			v.SetString(v.String() + "x")
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
		default:
			t.Fatalf("the test cannot change a %s", v.Type())
		}
	}
}

// A new option that Key forgets makes this test fail.
func TestKeySeesEveryOption(t *testing.T) {
	to := Target{Addr: local, Name: "www.example"}
	for name := range fullChecks() {
		before := fullChecks()[name].Key(to)
		probe := func(path string, field func(*Check) reflect.Value, differs bool) {
			c := fullChecks()[name]
			flip(t, field(&c))
			if (c.Key(to) != before) != differs {
				t.Errorf("%s: key differs is %v after %s changed", name, !differs, path)
			}
		}
		all := reflect.TypeFor[Check]()
		for i := range all.NumField() {
			f := all.Field(i)
			if f.Type.Kind() == reflect.Pointer && f.Name != "Window" {
				continue
			}
			probe(f.Name, func(c *Check) reflect.Value { return reflect.ValueOf(c).Elem().Field(i) }, !notProbing[f.Name])
		}
		options := map[string]func(*Check) reflect.Value{
			"icmp": func(c *Check) reflect.Value { return reflect.ValueOf(c.ICMP).Elem() },
			"tcp":  func(c *Check) reflect.Value { return reflect.ValueOf(c.TCP).Elem() },
			"tls":  func(c *Check) reflect.Value { return reflect.ValueOf(c.TLS).Elem() },
			"grpc": func(c *Check) reflect.Value { return reflect.ValueOf(c.GRPC).Elem() },
			"exec": func(c *Check) reflect.Value { return reflect.ValueOf(c.Exec).Elem() },
			"file": func(c *Check) reflect.Value { return reflect.ValueOf(c.File).Elem() },
			"udp":  func(c *Check) reflect.Value { return reflect.ValueOf(c.UDP).Elem() },
			"dns":  func(c *Check) reflect.Value { return reflect.ValueOf(c.DNS).Elem() },
			"http": func(c *Check) reflect.Value { return reflect.ValueOf(c.HTTP).Elem() },
		}[name]
		c := fullChecks()[name]
		for i := range options(&c).NumField() {
			field := options(&c).Type().Field(i).Name
			if !options(&c).Type().Field(i).IsExported() {
				continue
			}
			probe(field, func(c *Check) reflect.Value { return options(c).Field(i) }, true)
		}
	}
}

func TestKeyOfTargets(t *testing.T) {
	checks := fullChecks()
	plain := checks["http"]
	o := *plain.HTTP
	o.Host, o.SNI = "", ""
	plain.HTTP = &o
	at := func(addr string, port uint16, name string) Target {
		return Target{Addr: netip.MustParseAddr(addr), Port: port, Name: name}
	}
	for _, c := range []struct {
		about string
		check Check
		a, b  Target
		same  bool
	}{
		{"own port named or not", checks["tcp"], at("127.0.0.1", 0, "a"), at("127.0.0.1", 80, "b"), true},
		{"mapped IPv4", checks["tcp"], at("127.0.0.1", 0, "a"), at("::ffff:127.0.0.1", 0, "a"), true},
		{"other address", checks["tcp"], at("127.0.0.1", 0, "a"), at("127.0.0.2", 0, "a"), false},
		{"other port", checks["tcp"], at("127.0.0.1", 0, "a"), at("127.0.0.1", 81, "a"), false},
		{"icmp has no port", checks["icmp"], at("127.0.0.1", 0, "a"), at("127.0.0.1", 81, "b"), true},
		{"host configured: the owner does not matter", checks["http"], at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "b"), true},
		{"no sni: the owner is sent", tlsCheck(long, TLS{Port: 443}), at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "b"), false},
		{"sni configured", tlsCheck(long, TLS{Port: 443, SNI: "s"}), at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "b"), true},
		{"no qname: the owner is asked for", dnsCheck(long, DNS{Port: 53}), at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "b"), false},
		{"qname in another case", dnsCheck(long, DNS{Port: 53}), at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "A"), true},
		{"grpc names the owner", grpcCheck(long, GRPC{Port: 1}), at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "b"), false},
		{"a command without the name", checks["exec"], at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "b"), true},
		{"a command for another port", checks["exec"], at("127.0.0.1", 1, "a"), at("127.0.0.1", 2, "a"), false},
		{"a file has no port", checks["file"], at("127.0.0.1", 1, "a"), at("127.0.0.1", 2, "b"), true},
		{"udp says no name", udpCheck(long, UDP{Port: 53}), at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "b"), true},
		{"no host: the owner is sent", plain, at("127.0.0.1", 0, "a"), at("127.0.0.1", 0, "b"), false},
	} {
		if got := c.check.Key(c.a) == c.check.Key(c.b); got != c.same {
			t.Errorf("%s: same key is %v", c.about, got)
		}
	}
}

// Values may hold what separates values.
func TestKeyIsUnambiguous(t *testing.T) {
	to := Target{Addr: local}
	a := tcpCheck(long, TCP{Port: 1, Send: []byte(`a" "b`), Expect: []byte("c")})
	b := tcpCheck(long, TCP{Port: 1, Send: []byte("a"), Expect: []byte(`b" "c`)})
	if a.Key(to) == b.Key(to) {
		t.Errorf("one key for two checks: %s", a.Key(to))
	}
}

// An upgrade changes the version in the default user agent. The probe is the same
// for that: else a state saved before would not count, and one failed round after
// the restart would turn a member.
func TestKeyOutlivesUpgrade(t *testing.T) {
	to := Target{Addr: local, Name: "www.example"}
	agent := func(own bool, text string) string {
		return httpCheck(long, func(o *HTTP) { o.UserAgent, o.OwnAgent = text, own }).Key(to)
	}
	if agent(true, "gslbd/v1.0.0") != agent(true, "gslbd/v1.0.1") {
		t.Error("another version is another probe")
	}
	if agent(false, "gslbd/v1.0.0") == agent(false, "gslbd/v1.0.1") || agent(true, "a") == agent(false, "a") {
		t.Error("agents that were chosen are not told apart")
	}
}
