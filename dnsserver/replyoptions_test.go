package dnsserver

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const optionsNow = 1559731985

// toldResponder is newTestResponder for the test zone with settings and a clock that stands.
func toldResponder(t testing.TB, set Settings) (*Responder, *Shared) {
	t.Helper()
	r, _ := newTestResponder(t, testZone(t))
	shared := NewShared()
	shared.Tick(time.Unix(optionsNow, 0))
	shared.Set(set)
	return r.With(shared), shared
}

// fullSettings have something to say about everything.
func fullSettings(t testing.TB) Settings {
	set := DefaultSettings()
	set.CookieSecrets = [][16]byte{[16]byte(unhex(t, "e5e973e5a6b2a43f48e7dc849e37bfcf"))}
	set.NSID, set.Version, set.Hostname, set.ID = "tokyo-1", "gslbd 1.2.3", "host-1", "id-1"
	return set
}

// optionsClient is who asks.
func optionsClient() netip.AddrPort { return netip.MustParseAddrPort("198.51.100.100:5353") }

// opt makes a query of a name in the test zone with options.
func optQuery(t testing.TB, name string, options ...dns.EDNS0) []byte {
	t.Helper()
	m := new(dns.Msg).SetQuestion(name, dns.TypeA)
	m.SetEdns0(4096, false)
	m.IsEdns0().Option = options
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

func cookieOption(digits string) dns.EDNS0 {
	return &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: digits}
}

// answered asks and unpacks the reply.
func answered(t testing.TB, r *Responder, packet []byte, transport Transport) (*dns.Msg, int) {
	t.Helper()
	reply := r.Respond(nil, packet, optionsClient(), transport)
	m := new(dns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatalf("%x: %v", reply, err)
	}
	return m, len(reply)
}

// optionsOf shows the options of a reply: code and data in hex.
func optionsOf(m *dns.Msg) string {
	var list []string
	for _, o := range m.IsEdns0().Option {
		switch o := o.(type) {
		case *dns.EDNS0_COOKIE:
			list = append(list, "cookie "+o.Cookie)
		case *dns.EDNS0_NSID:
			text, _ := hex.DecodeString(o.Nsid)
			list = append(list, "nsid "+string(text))
		default:
			list = append(list, fmt.Sprintf("%d %s", o.Option(), o.String()))
		}
	}
	return strings.Join(list, ", ")
}

// TestOptionReplies asks with each option: known ones are answered, others are not, malformed ones get FORMERR with OPT.
func TestOptionReplies(t *testing.T) {
	r, _ := toldResponder(t, fullSettings(t))
	local := func(code uint16, data string) dns.EDNS0 { return &dns.EDNS0_LOCAL{Code: code, Data: []byte(data)} }
	const client, full = "2464c4abcf10c957", "2464c4abcf10c957010000005cf79f111f8130c3eee29480"
	for _, c := range []struct {
		name      string
		transport Transport
		options   []dns.EDNS0
		rcode     int
		want      string
	}{
		{"none", UDP, nil, 0, ""},
		{"unknown", UDP, []dns.EDNS0{local(65001, "x"), local(9, "")}, 0, ""},
		{"nsid", UDP, []dns.EDNS0{local(3, "")}, 0, "nsid tokyo-1"},
		{"client cookie", UDP, []dns.EDNS0{cookieOption(client)}, 0, "cookie " + full},
		{"good cookie", UDP, []dns.EDNS0{cookieOption(full)}, 0, "cookie " + full},
		{"forged cookie", UDP, []dns.EDNS0{cookieOption(full[:46] + "81")}, 0, "cookie " + full},
		{"cookie of another kind", UDP, []dns.EDNS0{cookieOption(client + client)}, 0, "cookie " + full},
		{"cookie of 9", TCP, []dns.EDNS0{cookieOption(client + "00")}, dns.RcodeFormatError, ""},
		{"subnet", UDP, []dns.EDNS0{local(8, "\x00\x01\x18\x00\xc0\x00\x02")}, 0, "8 192.0.2.0/24/0"},
		{"subnet of nobody", UDP, []dns.EDNS0{local(8, "\x00\x00\x00\x00")}, 0, "8 0.0.0.0/0/0"},
		{"subnet with scope", UDP, []dns.EDNS0{local(8, "\x00\x01\x18\x18\xc0\x00\x02")}, dns.RcodeFormatError, ""},
		{"subnet too long, and a cookie", UDP, []dns.EDNS0{cookieOption(client), local(8, "\x00\x01\x18\x00\xc0\x00\x02\x01")}, dns.RcodeFormatError, ""},
		{"keepalive", TCP, []dns.EDNS0{local(11, "")}, 0, "11 use tcp keep-alive, timeout 10000ms"},
		{"keepalive with time", TCP, []dns.EDNS0{local(11, "\x00\x64")}, dns.RcodeFormatError, ""},
		{"keepalive over udp", UDP, []dns.EDNS0{local(11, "")}, 0, ""},
		{"keepalive with time over udp", UDP, []dns.EDNS0{local(11, "\x00\x64")}, 0, ""},
		{"padding in the clear", TCP, []dns.EDNS0{local(12, "\x00\x00")}, 0, ""},
	} {
		m, _ := answered(t, r, optQuery(t, "plain.gslb.example.com.", c.options...), c.transport)
		if m.IsEdns0() == nil || len(m.Question) != 1 || m.Rcode != c.rcode || c.rcode == 0 && len(m.Answer) != 1 {
			t.Errorf("%s: %v", c.name, m)
			continue
		}
		if got := optionsOf(m); !strings.EqualFold(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSettingsAtOnce changes settings under a Responder: the next reply follows.
func TestSettingsAtOnce(t *testing.T) {
	r, shared := toldResponder(t, fullSettings(t))
	all := []dns.EDNS0{cookieOption("2464c4abcf10c957"), &dns.EDNS0_NSID{Code: dns.EDNS0NSID}, &dns.EDNS0_LOCAL{Code: 8, Data: []byte("\x00\x01\x18\x00\xc0\x00\x02")}}
	packet := optQuery(t, "plain.gslb.example.com.", all...)
	bad := optQuery(t, "plain.gslb.example.com.", cookieOption("00"), &dns.EDNS0_LOCAL{Code: 8, Data: []byte("x")})
	if m, _ := answered(t, r, packet, UDP); optionsOf(m) != "cookie 2464c4abcf10c957010000005cf79f111f8130c3eee29480, 8 192.0.2.0/24/0, nsid tokyo-1" {
		t.Error(optionsOf(m))
	}
	shared.Set(Settings{UDPSize: 512}) // everything off
	m, _ := answered(t, r, packet, UDP)
	if optionsOf(m) != "" || m.IsEdns0().UDPSize() != 512 || len(m.Answer) != 1 {
		t.Error(m)
	}
	if m, _ := answered(t, r, bad, UDP); m.Rcode != dns.RcodeSuccess {
		t.Error("options that are off are looked at:", m)
	}
	shared.Set(DefaultSettings())
	m, _ = answered(t, r, packet, UDP)
	random := optionsOf(m)
	if !strings.HasPrefix(random, "cookie 2464c4abcf10c957010000005cf79f11") || strings.Contains(random, "1f8130c3eee29480") || m.IsEdns0().UDPSize() != 1232 {
		t.Error(random)
	}
	shared.Set(DefaultSettings())
	if m, _ := answered(t, r, packet, UDP); optionsOf(m) != random {
		t.Error("the random secret changed with the settings")
	}
	if m, _ := answered(t, r.With(NewShared()), packet, UDP); optionsOf(m) == random {
		t.Error("two servers have the same random secret")
	}
}

// TestSizeWithCookie asks for a long answer with and without a good cookie.
func TestSizeWithCookie(t *testing.T) {
	set := fullSettings(t)
	set.UDPSize, set.UDPSizeWithoutCookie = 4096, 512
	r, shared := toldResponder(t, set)
	const good = "2464c4abcf10c957010000005cf79f111f8130c3eee29480"
	for _, c := range []struct {
		name      string
		options   []dns.EDNS0
		truncated bool
	}{{"none", nil, true}, {"client", []dns.EDNS0{cookieOption(good[:16])}, true}, {"forged", []dns.EDNS0{cookieOption(good[:46] + "00")}, true}, {"good", []dns.EDNS0{cookieOption(good)}, false}} {
		packet := optQuery(t, "big.gslb.example.com.", c.options...)
		m, size := answered(t, r, packet, UDP)
		if m.Truncated != c.truncated || m.Truncated && size > 512 || !m.Truncated && len(m.Answer) != 130 {
			t.Errorf("%s: %d bytes, TC %v, %d records", c.name, size, m.Truncated, len(m.Answer))
		}
		if m, _ := answered(t, r, packet, TCP); m.Truncated {
			t.Errorf("%s: TC over TCP", c.name)
		}
	}
	set.UDPSizeWithoutCookie = 0
	shared.Set(set)
	if m, size := answered(t, r, optQuery(t, "big.gslb.example.com."), UDP); m.Truncated || size < 2000 {
		t.Errorf("4096 allowed: %d bytes, TC %v", size, m.Truncated)
	}
	set.UDPSize = 1 << 20
	shared.Set(set)
	if m, _ := answered(t, r, optQuery(t, "big.gslb.example.com."), UDP); m.IsEdns0().UDPSize() != 4096 {
		t.Error(m.IsEdns0())
	}
}

// TestNSIDGivesWay asks for answers of every size with NSID: it never causes TC, and is there whenever it fits.
func TestNSIDGivesWay(t *testing.T) {
	r, _ := newTestResponder(t, map[string]string{"size.": sizeZone()})
	shared := NewShared()
	set := DefaultSettings()
	set.NSID = strings.Repeat("n", 255)
	shared.Set(set)
	r.With(shared)
	with, without := 0, 0
	for n := 800; n <= 1300; n++ {
		name := "n" + string(rune('a'+n/100)) + string(rune('a'+n/10%10)) + string(rune('a'+n%10)) + ".size."
		ask := func(options ...dns.EDNS0) (*dns.Msg, int) {
			m := new(dns.Msg).SetQuestion(name, dns.TypeTXT)
			m.SetEdns0(1232, false).IsEdns0().Option = options
			packet, _ := m.Pack()
			return answered(t, r, packet, UDP)
		}
		plain, size := ask()
		m, longer := ask(&dns.EDNS0_NSID{Code: dns.EDNS0NSID})
		if m.Truncated != plain.Truncated || longer > 1232 {
			t.Fatalf("%d bytes: TC %v, without NSID %v", longer, m.Truncated, plain.Truncated)
		}
		if fits := size+4+255 <= 1232; fits != (optionsOf(m) != "") {
			t.Fatalf("answer of %d: %q", size, optionsOf(m))
		} else if fits {
			with++
		} else {
			without++
		}
	}
	if with == 0 || without == 0 {
		t.Error(with, without)
	}
}

// TestPadding fills replies up to a multiple of 468 octets over TLS, whatever else they carry.
func TestPadding(t *testing.T) {
	r, _ := toldResponder(t, fullSettings(t))
	padding := &dns.EDNS0_PADDING{Padding: make([]byte, 7)}
	for _, name := range []string{"plain", "four", "big", "nothing"} {
		for _, options := range [][]dns.EDNS0{{padding}, {&dns.EDNS0_NSID{Code: dns.EDNS0NSID}, padding, cookieOption("2464c4abcf10c957")}} {
			packet := optQuery(t, name+".gslb.example.com.", options...)
			if _, size := answered(t, r, packet, TLS); size%468 != 0 {
				t.Errorf("%s: %d octets", name, size)
			}
			if m, size := answered(t, r, packet, TCP); size%468 == 0 || strings.Contains(optionsOf(m), "12 ") {
				t.Errorf("%s: padded in the clear, %d octets", name, size)
			}
		}
	}
	if _, size := answered(t, r, optQuery(t, "plain.gslb.example.com."), TLS); size%468 == 0 {
		t.Error("padded though the query was not")
	}
}

// TestCookieOnlyReply asks for a cookie alone (RFC 7873 section 5.4).
func TestCookieOnlyReply(t *testing.T) {
	r, shared := toldResponder(t, fullSettings(t))
	const good = "2464c4abcf10c957010000005cf79f111f8130c3eee29480"
	for cookie, rcode := range map[string]int{good[:16]: dns.RcodeSuccess, good: dns.RcodeSuccess, good[:46] + "00": dns.RcodeBadCookie, good[:20]: dns.RcodeFormatError} {
		m := new(dns.Msg)
		m.SetEdns0(1232, false).IsEdns0().Option = []dns.EDNS0{cookieOption(cookie)}
		packet, _ := m.Pack()
		got, _ := answered(t, r, packet, UDP)
		if got.Rcode != rcode || len(got.Question)+len(got.Answer)+len(got.Ns) != 0 {
			t.Errorf("%s: %v", cookie, got)
		}
		if rcode != dns.RcodeFormatError && optionsOf(got) != "cookie "+good {
			t.Errorf("%s: %s", cookie, optionsOf(got))
		}
		dst := make([]byte, 0, 512)
		if n := testing.AllocsPerRun(50, func() { r.Respond(dst, packet, optionsClient(), UDP) }); n > 0 {
			t.Errorf("%s: %v allocations", cookie, n)
		}
	}
	var o Outcomes
	if r.count.AddTo(&o); o.CookieOnly < 3 || o.FormErr == 0 {
		t.Errorf("%+v", o)
	}
	shared.Set(Settings{})
	m := new(dns.Msg)
	m.SetEdns0(1232, false).IsEdns0().Option = []dns.EDNS0{cookieOption(good)}
	packet, _ := m.Pack()
	if got, _ := answered(t, r, packet, UDP); got.Rcode != dns.RcodeFormatError {
		t.Errorf("cookies are off: %v", got)
	}
}

// TestChaos asks for the texts of class CHAOS and for ANY, with each switched on and off.
func TestChaos(t *testing.T) {
	on := fullSettings(t)
	on.RefuseANY = true
	for name, set := range map[string]Settings{"on": on, "off": DefaultSettings()} {
		r, _ := toldResponder(t, set)
		for ask, want := range map[string]string{"version.bind.": set.Version, "Version.Server.": set.Version, "HOSTNAME.bind.": set.Hostname, "id.server.": set.ID, "other.bind.": "", ".": ""} {
			m := new(dns.Msg).SetQuestion(ask, dns.TypeTXT)
			m.Question[0].Qclass = dns.ClassCHAOS
			packet, _ := m.Pack()
			got, _ := answered(t, r, packet, UDP)
			if want == "" {
				if got.Rcode != dns.RcodeRefused || len(got.Answer) != 0 || got.Authoritative {
					t.Errorf("%s: %s: %v", name, ask, got)
				}
			} else if len(got.Answer) != 1 || got.Answer[0].String() != dns.Fqdn(ask)+"\t0\tCH\tTXT\t\""+want+"\"" || !got.Authoritative || got.Rcode != 0 {
				t.Errorf("%s: %s: %v", name, ask, got)
			}
		}
		m := new(dns.Msg).SetQuestion("plain.gslb.example.com.", dns.TypeANY)
		packet, _ := m.Pack()
		for _, transport := range []Transport{UDP, TCP} {
			if got, _ := answered(t, r, packet, transport); (got.Rcode == dns.RcodeRefused) != set.RefuseANY || (len(got.Answer) == 1) == set.RefuseANY {
				t.Errorf("%s: ANY: %v", name, got)
			}
		}
	}
}

// TestOptionsAllocateNothing asks each kind of answer with every option, over each transport.
func TestOptionsAllocateNothing(t *testing.T) {
	set := fullSettings(t)
	set.UDPSize = 4096
	r, shared := toldResponder(t, set)
	cookies := map[string]string{"client": "2464c4abcf10c957", "good": "2464c4abcf10c957010000005cf79f111f8130c3eee29480", "bad": "2464c4abcf10c957ff"}
	dst := make([]byte, 0, 8192)
	for name, cookie := range cookies {
		for _, k := range kindsOfAnswers() {
			if !k.edns {
				continue
			}
			m := new(dns.Msg).SetQuestion(k.ask, k.qtype)
			m.SetEdns0(1232, true).IsEdns0().Option = []dns.EDNS0{cookieOption(cookie), &dns.EDNS0_NSID{Code: dns.EDNS0NSID},
				&dns.EDNS0_LOCAL{Code: 8, Data: []byte("\x00\x02\x30\x00\x20\x01\x0d\xb8\x00\x01")}, &dns.EDNS0_LOCAL{Code: 11}, &dns.EDNS0_PADDING{}}
			packet, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			for _, transport := range []Transport{UDP, TCP, TLS} {
				if n := testing.AllocsPerRun(20, func() { r.Respond(dst, packet, optionsClient(), transport) }); n != 0 {
					t.Errorf("%s, cookie %s, %v: %v allocations", k.name, name, transport, n)
				}
			}
		}
	}
	m := new(dns.Msg).SetQuestion("version.bind.", dns.TypeTXT)
	m.Question[0].Qclass = dns.ClassCHAOS
	packet, _ := m.Pack()
	if n := testing.AllocsPerRun(20, func() { r.Respond(dst, packet, optionsClient(), UDP); shared.Tick(time.Unix(1, 0)) }); n != 0 {
		t.Errorf("version.bind: %v allocations", n)
	}
}

// BenchmarkRespondOptions measures what options add to a plain answer.
func BenchmarkRespondOptions(b *testing.B) {
	r, _ := toldResponder(b, fullSettings(b))
	dst, client := make([]byte, 0, 1232), optionsClient()
	for name, options := range map[string][]dns.EDNS0{
		"none": nil, "client-cookie": {cookieOption("2464c4abcf10c957")}, "server-cookie": {cookieOption("2464c4abcf10c957010000005cf79f111f8130c3eee29480")},
		"nsid": {&dns.EDNS0_NSID{Code: dns.EDNS0NSID}}, "subnet": {&dns.EDNS0_LOCAL{Code: 8, Data: []byte("\x00\x01\x18\x00\xc0\x00\x02")}},
	} {
		packet := optQuery(b, "host-5000.gslb.example.com.", options...)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Respond(dst, packet, client, UDP)
			}
		})
	}
}
