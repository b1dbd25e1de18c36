package zone

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestNearest(t *testing.T) {
	known := []string{"primary", "secondary", "tertiary", "web", "Failover"}
	for word, want := range map[string]string{
		"primry": "primary", "rpimary": "primary", "PRIMARY": "primary", "secundary": "secondary",
		"wbe": "web", "we": "web", "failovr": "Failover", "prim": "primary", "second": "secondary",
		"": "", "zzz": "", "blue": "", strings.Repeat("x", 100): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("web", nil); got != "" {
		t.Error(got)
	}
	if got := Nearest("we", []string{"west", "wester"}); got != "" {
		t.Errorf("ambiguous prefix gave %q", got)
	}
}

func TestParseTTL(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "60": 60, "1h30m": 5400, "1W2D3H4M5S": 788645, "1h1": 3601, "2147483647": 2147483647,
		"2147483648": -1, "99999999999999999999": -1, "5000w": -1, "": -1, "h": -1, "1hh": -1, "1x": -1, "-1": -1, "1.5": -1,
	} {
		ttl, ok := parseTTL([]byte(text))
		if ok != (want >= 0) || ok && int64(ttl) != want {
			t.Errorf("%q: %d, %v", text, ttl, ok)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]Target{
		"192.0.2.1":            {netip.MustParseAddr("192.0.2.1"), 0},
		"192.0.2.1:80":         {netip.MustParseAddr("192.0.2.1"), 80},
		"2001:db8::1":          {netip.MustParseAddr("2001:db8::1"), 0},
		"[2001:db8::1]:65535":  {netip.MustParseAddr("2001:db8::1"), 65535},
		":1":                   {netip.Addr{}, 1},
		"::ffff:192.0.2.1":     {netip.MustParseAddr("192.0.2.1"), 0},
		"[::ffff:192.0.2.1]:7": {netip.MustParseAddr("192.0.2.1"), 7},
	} {
		if got, f := parseTarget(text); f != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, f)
		}
	}
	for _, text := range []string{":", ":0", ":65536", "::", "0.0.0.0", "255.255.255.255", "ff02::1", "fe80::1%eth0", "host", "host:80", "192.0.2.1:", "192.0.2.1:http", "[2001:db8::1]", "2001:db8::1:99999", "[192.0.2.1]:80", "1.2.3:80", ":+8"} {
		if got, f := parseTarget(text); f == nil {
			t.Errorf("%q was taken as %v", text, got)
		}
	}
}

func TestAbsolute(t *testing.T) {
	l63 := strings.Repeat("a", 63)
	long := strings.Join([]string{l63, l63, l63, strings.Repeat("b", 61)}, ".") // 255 octets
	for word, want := range map[string]string{
		"@": "o.test.", "www": "www.o.test.", "www.": "www.", ".": ".", "a.b": "a.b.o.test.", `a\.b`: `a\.b.o.test.`,
		`a\.`: `a\..o.test.`, `\097`: "a.o.test.", `\@`: `\@.o.test.`, "é": `\195\169.o.test.`, `a\ b`: `a\ b.o.test.`, `\000`: `\000.o.test.`,
		long + ".": long + ".", `a\\.`: `a\\.`,
		"": "", "..": "", "a..b": "", ".a": "", long + "b.": "", l63 + "a": "", long: "", `"a"`: "", strings.Repeat(`\097`, 64): "",
	} {
		got, f := absolute(nil, []byte(word), "o.test.")
		if (f == nil) != (want != "") || f == nil && string(got) != want {
			t.Errorf("%q: %q, %v", word, got, f)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		name, zone string
		want       bool
	}{
		{"example.com.", "example.com.", true}, {"a.example.com.", "example.com.", true}, {"aexample.com.", "example.com.", false},
		{`a\.example.com.`, "example.com.", false}, {`a\\.example.com.`, "example.com.", true}, {"com.", "example.com.", false}, {"x.", ".", true}, {".", ".", true},
	} {
		if got := within(tt.name, tt.zone); got != tt.want {
			t.Errorf("within(%q, %q) = %v", tt.name, tt.zone, got)
		}
	}
	for name, want := range map[string]string{"a.b.": "b.", "b.": ".", ".": "", `a\.b.c.`: "c.", `a\\.c.`: "c."} {
		if got := parent(name); got != want {
			t.Errorf("parent(%q) = %q", name, got)
		}
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{"a": `"a"`, "a\tb\xff": `"a\009b\255"`, strings.Repeat("x", 61): `"` + strings.Repeat("x", 60) + `..."`} {
		if got := quote(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestEntries holds lines and annotations of the lexical front end.
func TestEntries(t *testing.T) {
	text := "a 1 ; @x\n\n; plain\n ; @alone\n\tb ( 2 ; @y z \n ; no\n \"q;(\\\"\" ) \\; tail\r\nc"
	want := []struct {
		line, noteLine int
		text, note     string
	}{{1, 1, "a 1", "@x"}, {4, 4, "", "@alone"}, {5, 5, "\tb   2     \"q;(\\\"\"   \\; tail", "@y z"}, {8, 0, "c", ""}}
	s := newScanner([]byte(text))
	for _, w := range want {
		e, ok := s.next()
		if !ok || e.fault != nil || e.line != w.line || e.noteL != w.noteLine || string(e.text) != w.text || string(e.note) != w.note {
			t.Errorf("got %v %d %d %q %q, want %+v", ok, e.line, e.noteL, e.text, e.note, w)
		}
	}
	if e, ok := s.next(); ok {
		t.Errorf("one more: %+v", e)
	}
}

// TestAddressRR holds the shortcut for addresses against the library.
func TestAddressRR(t *testing.T) {
	for _, text := range []string{
		"192.0.2.1", "0.0.0.0", "255.255.255.255", "01.2.3.4", "1.2.3", "1.2.3.4.5", "1.2.3.256", "", "x", "1.2.3.4 5",
		"2001:db8::1", "::", "::ffff:1.2.3.4", "::1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "fe80::1%eth0", ":::", "12345::", "2001:DB8::A",
	} {
		for _, typ := range []uint16{dns.TypeA, dns.TypeAAAA} {
			kind := dns.TypeToString[typ]
			want, err := dns.NewRR(". 0 IN " + kind + " " + text)
			if text == "" {
				want = nil
			}
			got := addressRR(typ, []byte(text))
			if (got == nil) != (err != nil || want == nil) {
				t.Errorf("%s %q: %v, library %v %v", kind, text, got, want, err)
			} else if got != nil && dataOf(got) != strings.TrimPrefix(want.String(), want.Header().String()) {
				t.Errorf("%s %q: %v, library %v", kind, text, got, want)
			}
		}
	}
}

// TestLibraryReadsOn feeds records that the library reads past the end of; the
// one that follows must be whole.
func TestLibraryReadsOn(t *testing.T) {
	z := load(t, head+"a IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG\nb TXT next\nc TXT last\n")
	if got := dump(z); !strings.Contains(got, "b.example.com. 60 IN TXT \"next\"\nc.example.com.") {
		t.Error(got)
	}
	for _, text := range []string{"a RP mbox\nb TXT x\n", "a DS 1 8 2\nb TXT x\n", "a TLSA 3 1\nb TXT x\n"} {
		_, problems := Load(Source{"example.com", write(t, head+text)}, testVocabulary())
		if len(problems) != 1 || problems[0].Line != 5 {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

// TestLibraryPanics counts on a report instead of a panic, whatever the
// library's parsers do with odd data.
func TestLibraryPanics(t *testing.T) {
	for typ := range dns.TypeToRR {
		kind := dns.Type(typ).String()
		for _, data := range []string{`""`, `"`, `1`, `1 1`, `1 1 1`, `"" ""`, `1 2 N 3 4 E `, `1 2 N 3 4 E ""`, `1 . `, `\# 1 00`, `( )`, `a=`, `1 . =`, `-`, `1 2 3 4 5 6 7 8 9 10`} {
			Load(Source{"example.com", write(t, head+"a "+kind+" "+data+"\nb TXT x\n")}, testVocabulary())
		}
	}
}

func TestSerial(t *testing.T) {
	for text, want := range map[string]uint32{
		head: 7,
		"$ORIGIN example.com.\nwww 60 A broken\n@ 60 IN SOA a b ( 4294967295 ; serial\n 1 1 1 1 )\n": 4294967295,
		"@ IN SOA a b 9 1 1 1 1": 9,
		"$GENERATE 1-3 h$ 60 A 192.0.2.$ ; @primary check=$\n@ SOA a b 11 1 1 1 1\n":                                    11,
		strings.Repeat("www 60 A 192.0.2.1 ; @primary check=web\n; @primary check=web\n", 200) + "@ SOA a b 12 1 1 1 1": 12,
	} {
		if got, err := Serial(write(t, text)); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                    "file is empty",
		"@ NS a\n":            "no SOA record",
		"@ SOA a b x 1 1 1 1": `bad SOA data at "x"`,
		"\x00":                "NUL octet",
	} {
		if _, err := Serial(write(t, text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "example.zone") {
			t.Errorf("%q: %v", text, err)
		}
	}
	file := write(t, "$INCLUDE soa.inc\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "soa.inc"), []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Serial(file); got != 7 || err != nil {
		t.Error(got, err)
	}
}

func TestUnsteered(t *testing.T) {
	key := func(name string, typ uint16) Key { return Key{"example.com.", name + ".example.com.", typ} }
	before := []Key{key("lost", dns.TypeA), key("kept", dns.TypeA), key("meant", dns.TypeA), key("one", dns.TypeA), key("gone", dns.TypeA), key("txt", dns.TypeTXT)}
	text := head + "lost A 192.0.2.1\nlost A 192.0.2.2\nkept A 192.0.2.1 ; @primary check=web\nkept A 192.0.2.2 ; @primary check=web\n" +
		"meant A 192.0.2.1 ; @static\nmeant A 192.0.2.2 ; @static\none A 192.0.2.1\nother A 192.0.2.1\nother A 192.0.2.2\ntxt TXT a\ntxt TXT b\n"
	z, problems := Load(Source{"example.com", write(t, text)}, testVocabulary())
	if problems.Failed(false) {
		t.Fatal(problems)
	}
	got := Unsteered(before, []*Zone{z})
	if len(got) != 2 || !got.Failed(false) || got[0].Line != 5 || got[0].File != z.File || got[1].Line != 14 {
		t.Fatal(got)
	}
	if want := "lost.example.com/A was steered and now has 2 records without annotation"; got[0].Message != want {
		t.Errorf("got %q, want %q", got[0].Message, want)
	}
	if ps := Unsteered(nil, []*Zone{z}); len(ps) > 0 {
		t.Error(ps)
	}
	before[0].Zone = "other.test."
	if ps := Unsteered(before[:1], []*Zone{z}); len(ps) > 0 {
		t.Error("a group of another zone was taken for this one's", ps)
	}
}

func TestGenerateFormat(t *testing.T) {
	for template, want := range map[string]string{
		"a$": "a26", "$$": "$", `\$`: `\$`, "${1}": "27", "${-26}": "0", "${0,5}": "00026", "${0,5,d}": "00026", "${0,0,x}": "1a",
		"${0,4,X}": "001A", "${0,0,o}": "32", "${0,3,n}": "a.1", "${0,0,N}": "A.1", "${0,7,n}": "a.1.0.0", "${0,8,n}": "a.1.0.0.", "$-$": "26-26",
	} {
		tpl, f := parseTemplate([]byte(template))
		if f != nil {
			t.Error(template, f)
			continue
		}
		if got, f := tpl.expand(nil, 26); f != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", template, got, f, want)
		}
	}
	for _, template := range []string{"${", "${}", "${x}", "${1,x}", "${1,999}", "${1,1,q}", "${1,1,xx}", "${1,1,x,1}"} {
		if _, f := parseTemplate([]byte(template)); f == nil {
			t.Error(template, "was accepted")
		}
	}
}

func TestProblemText(t *testing.T) {
	ps := Problems{{File: "a", Line: 3, Severity: Error, Message: "m", Hint: "h"}, {File: "b", Severity: Warning, Message: "n"}}
	if got, want := ps.Error(), "a:3: m\n  hint: h\nb: warning: n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if ps[1:].Failed(false) || !ps[1:].Failed(true) || !ps.Failed(false) {
		t.Error("Failed")
	}
}

func TestUnescapedQuote(t *testing.T) {
	for word, want := range map[string]bool{`a"`: true, `a\"`: false, `a\\"`: true, `a\`: false} {
		if got := bytes.IndexByte([]byte(word), '"') >= 0 && unescapedQuote([]byte(word)); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
}
