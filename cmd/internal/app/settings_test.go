package app

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// told asks a server over UDP for what its settings say: NSID, server cookie,
// UDP size, version.bind, id.server, and the rcode of ANY.
func told(t *testing.T, a *App) (nsid, cookie string, size uint16, version, id string, anyRcode int) {
	t.Helper()
	ask := func(m *dns.Msg) *dns.Msg {
		reply, err := dns.Exchange(m, a.Addrs()[0].String())
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	m := new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA)
	m.SetEdns0(4096, false).IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID}, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "2464c4abcf10c957"}}
	opt := ask(m).IsEdns0()
	for _, o := range opt.Option {
		switch o := o.(type) {
		case *dns.EDNS0_NSID:
			text, _ := hex.DecodeString(o.Nsid)
			nsid = string(text)
		case *dns.EDNS0_COOKIE:
			cookie = o.Cookie
		}
	}
	chaos := func(name string) string {
		m := new(dns.Msg).SetQuestion(name, dns.TypeTXT)
		m.Question[0].Qclass = dns.ClassCHAOS
		if reply := ask(m); len(reply.Answer) == 1 {
			return reply.Answer[0].(*dns.TXT).Txt[0]
		}
		return ""
	}
	return nsid, cookie, opt.UDPSize(), chaos("version.bind."), chaos("id.server."), ask(new(dns.Msg).SetQuestion("www.example.com.", dns.TypeANY)).Rcode
}

// TestSettings has the section dns take effect at the start and at a reload,
// and a bad file of secrets change nothing.
func TestSettings(t *testing.T) {
	const first, second = "e5e973e5a6b2a43f48e7dc849e37bfcf", "445536bcd2513298075a5d379663c962"
	a, logs := launch(t, checksText+"watch: false\nnode: ns7\n", header+pairs)
	nsid, random, size, version, id, anyRcode := told(t, a)
	if nsid != "ns7" || len(random) != 48 || size != 1232 || version != "gslbd v1.2.3" || id != "ns7" || anyRcode != dns.RcodeSuccess {
		t.Errorf("by default: %q, %q, %d, %q, %q, %d", nsid, random, size, version, id, anyRcode)
	}
	put(t, "secrets", first+"\n"+second+"\n")
	changed := checksText + "watch: false\nnode: ns8\nlisten: [ \"127.0.0.1:0\" ]\nzones: [ { name: example.com, file: a.zone } ]\n"
	put(t, "gslbd.yaml", changed+"dns: { nsid: other, cookie_secret_file: secrets, udp_size: 600, version: false, any: refuse }\n")
	if problems := a.Reload(t.Context(), false); problems.Failed(false) {
		t.Fatal(problems)
	}
	nsid, cookie, size, version, id, anyRcode := told(t, a)
	if nsid != "other" || len(cookie) != 48 || cookie == random || size != 600 || version != "" || id != "ns8" || anyRcode != dns.RcodeRefused {
		t.Errorf("after the reload: %q, %q, %d, %q, %q, %d", nsid, cookie, size, version, id, anyRcode)
	}
	put(t, "secrets", first[1:]+"\n")
	problems := a.Reload(t.Context(), false)
	if !problems.Failed(false) || !strings.Contains(problems.Error(), "secrets:1: not a cookie secret") {
		t.Errorf("bad secrets: %v", problems)
	}
	if nsid, _, size, _, _, _ := told(t, a); nsid != "other" || size != 600 {
		t.Errorf("after a refused reload: %q, %d", nsid, size)
	}
	for _, line := range logs.All() {
		if text := strings.ToLower(fmt.Sprint(line.Message, line.ContextMap())); strings.Contains(text, first[1:8]) || strings.Contains(text, second[:8]) {
			t.Errorf("a secret in the log: %s", text)
		}
	}
}
