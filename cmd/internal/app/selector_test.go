package app

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslbd/cmd/internal/admin"
	"gslbd/zone"
)

func groupsForSelectors() []*zone.Group {
	member := func(id, data, pool, target string) zone.Member {
		m := zone.Member{ID: id, Data: data, Pool: pool}
		if target != "" {
			m.Target.Addr = netip.MustParseAddr(target)
		}
		return m
	}
	return []*zone.Group{
		{Key: zone.Key{Zone: "example.com.", Name: "www.example.com.", Type: dns.TypeA}, Members: []zone.Member{
			member("tokyo", "192.0.2.10", "primary", "10.0.0.1"),
			member("osaka", "192.0.2.11", "secondary", ""),
		}},
		{Key: zone.Key{Zone: "example.com.", Name: "www.example.com.", Type: dns.TypeAAAA}, Members: []zone.Member{
			member("2001:db8::10", "2001:db8::10", "primary", "2001:db8::10"),
		}},
		{Key: zone.Key{Zone: "example.com.", Name: "*.cdn.example.com.", Type: dns.TypeA}, Members: []zone.Member{
			member("192.0.2.10", "192.0.2.10", "primary", "192.0.2.10"),
		}},
	}
}

func TestSelectMembers(t *testing.T) {
	tests := []struct{ selector, want string }{
		{"tokyo", "www/A/tokyo"},
		{"TOKYO", "www/A/tokyo"},
		{"192.0.2.10", "www/A/tokyo *.cdn/A/192.0.2.10"},
		{"10.0.0.1", "www/A/tokyo"},
		{"2001:DB8:0::10", "www/AAAA/2001:db8::10"},
		{"www.example.com", "www/A/tokyo www/A/osaka www/AAAA/2001:db8::10"},
		{"WWW.Example.com.", "www/A/tokyo www/A/osaka www/AAAA/2001:db8::10"},
		{"www.example.com/a", "www/A/tokyo www/A/osaka"},
		{"www.example.com./AAAA", "www/AAAA/2001:db8::10"},
		{"www.example.com/A/osaka", "www/A/osaka"},
		{"www.example.com/A/192.0.2.11", "www/A/osaka"},
		{"www.example.com/*/2001:db8::*", "www/AAAA/2001:db8::10"},
		{"pool:secondary", "www/A/osaka"},
		{"Pool:s*", "www/A/osaka"},
		{"*.cdn.example.com", "*.cdn/A/192.0.2.10"},
		{"*/A", "www/A/tokyo www/A/osaka *.cdn/A/192.0.2.10"},
		{"*", "www/A/tokyo www/A/osaka www/AAAA/2001:db8::10 *.cdn/A/192.0.2.10"},
		{"192.0.2.*", "www/A/tokyo www/A/osaka *.cdn/A/192.0.2.10"},
	}
	for _, tt := range tests {
		refs, err := selectMembers(groupsForSelectors(), tt.selector)
		if err != nil {
			t.Errorf("%s: %v", tt.selector, err)
			continue
		}
		var got []string
		for _, r := range refs {
			got = append(got, strings.Replace(r.group.Key.String(), ".example.com", "", 1)+"/"+r.group.Members[r.member].ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", tt.selector, got, tt.want)
		}
	}
}

func TestSelectNothing(t *testing.T) {
	tests := []struct{ selector, hint string }{
		{"tokio", `did you mean "tokyo"?`},
		{"ww.example.com", `did you mean "www.example.com"?`},
		{"pool:primry", `did you mean "pool:primary"?`},
		{"www.example.com/TXT", `did you mean "www.example.com/`},
		{"www.example.com/A/kyoto-and-more", "gslbd check and gslbd status list what there is"},
		{"203.0.113.200", "gslbd check and gslbd status list what there is"},
		{"", "gslbd check and gslbd status list what there is"},
	}
	for _, tt := range tests {
		_, err := selectMembers(groupsForSelectors(), tt.selector)
		e, ok := errors.AsType[*admin.Error](err)
		if !ok || e.Status != 404 || !strings.Contains(e.Message, `"`+tt.selector+`" matches no member`) || !strings.HasPrefix(e.Hint, tt.hint) {
			t.Errorf("%s: got %v, want hint %s", tt.selector, err, tt.hint)
		}
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "x", false},
		{"*", "", true},
		{"*", "anything.at.all", true},
		{"a*c", "abbbc", true},
		{"a*c", "ac", true},
		{"a*c", "acb", false},
		{"a*b*c", "a.b.b.c", true},
		{"a*b*c", "a.c.b", false},
		{"aa*aa", "aaa", false},
		{"**x", "x", true},
		{"*x*", "axb", true},
		{"[a]", "a", false},
		{"ABC", "abc", true},
		{"*ab*ab", "ab", false},
	}
	for _, tt := range tests {
		if got := glob(tt.pattern, tt.text); got != tt.want {
			t.Errorf("glob(%q, %q) is %v", tt.pattern, tt.text, got)
		}
	}
}
