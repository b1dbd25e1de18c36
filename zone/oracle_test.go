package zone

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// TestAgainstLibrary writes random zones, in random layout, and compares the
// records with those that the library's own ZoneParser finds in them.
func TestAgainstLibrary(t *testing.T) {
	for seed := range uint64(60) {
		text := randomZone(rand.New(rand.NewPCG(seed, 1)))
		z, problems := Load(Source{"example.com", write(t, text)}, testVocabulary())
		if problems.Failed(false) {
			t.Fatalf("%v\n%s", problems, text)
		}
		var want []string
		zp := dns.NewZoneParser(strings.NewReader(text), "example.com.", "")
		for rr, ok := zp.Next(); ok; rr, ok = zp.Next() {
			want = append(want, canonical(rr))
		}
		if err := zp.Err(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, records(z)); diff != "" {
			t.Fatalf("-library +Load:\n%s\n%s", diff, text)
		}
	}
}

// randomZone uses all that the library reads right: owners left out, TTL and
// class in any order, comments, quotes, parentheses, origins.
func randomZone(r *rand.Rand) string {
	b := []byte(head)
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	for i := range 5 + r.IntN(40) {
		if r.IntN(8) == 0 {
			b = fmt.Appendf(b, "$ORIGIN %s\n", pick("sub", "Example.com.", "a.b.example.com.", `x\.y.example.com.`))
		}
		if r.IntN(8) == 0 {
			b = fmt.Appendf(b, "%s\n", pick("", "; comment", "  ; (", "\t", "$TTL 60 ; \"", ";@ gone"))
		}
		owner := pick("h%d", "H%d", `h\.%d`, `\104%d`, "*.h%d", "h-%d")
		b = fmt.Appendf(b, owner, i)
		for range 1 + r.IntN(3) {
			b = append(b, pick(" ", "\t", "  \t")...)
			b = append(b, pick("", "", "60 ", "IN ", "60 IN ", "in 1m ")...)
			b = append(b, randomData(r, pick)...)
			b = append(b, pick("\n", " \n", "\r\n", " ; comment\n", ";\"\n")...)
		}
	}
	return string(b)
}

// randomData gives a type and its data, different each time.
func randomData(r *rand.Rand, pick func(...string) string) string {
	n, m := r.IntN(256), r.IntN(65536)
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("A 10.%d.%d.%d", n, m>>8, m&255)
	case 1:
		return fmt.Sprintf("AAAA 2001:db8::%x:%x", n, m)
	case 2:
		return fmt.Sprintf("MX %d %s", m, pick("mail", "mail.example.net.", "@", `a\.b`, `\097`))
	case 3:
		return fmt.Sprintf("SRV %d ( 1\n 2 ) %s", m, pick("mail", ".", "@"))
	case 4:
		return fmt.Sprintf(`TXT %d-%d "a b" %s`, n, m, pick(`"; no"`, `\;`, `"\""`, `x\ y`, `"(" `, `"\200"`))
	case 5:
		return fmt.Sprintf("TXT ( ; one\n  \"%d\" ; two ( \"\n  %d )", n, m)
	case 6:
		return fmt.Sprintf("TYPE65300 \\# 3 %02x%04x", n, m)
	}
	return fmt.Sprintf(`CAA 0 issue "%d.example.net; n=%d"`, n, m)
}

// TestBindRefusesToo holds that what is an error here for the sake of the DNS
// is one for named-checkzone.
func TestBindRefusesToo(t *testing.T) {
	checkzone, err := exec.LookPath("named-checkzone")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("named-checkzone is not installed")
	} else if err != nil {
		t.Skip("named-checkzone is not installed (Debian: bind9-utils)")
	}
	for _, text := range []string{
		"www CNAME a.example.net.\nwww TXT x\n",
		"www CNAME a.example.net.\nwww CNAME b.example.net.\n",
		"@ CNAME a.example.net.\n",
		"old DNAME a.example.net.\nold DNAME b.example.net.\n",
		"@ NS ns2\n",
		"@ NS ns2\nns2 CNAME ns1\n",
		"@ SOA ns1 hostmaster 8 3600 600 604800 60\n",
		"*.x NS ns.example.net.\n",
		"a..b A 192.0.2.1\n",
		"www A 192.0.2.256\n",
		"www TXT \"a\n",
		"www TXT ( a\n",
		"www TXT a )\n",
		"www\\256 A 192.0.2.1\n",
		"www AAA 192.0.2.1\n",
		"www 1y A 192.0.2.1\n",
		"www CH A 192.0.2.1\n",
		"www MX 10\n",
		"www DS 1 8 2\n",
		"www ANY x\n",
		"$NOTHING\n",
		"$TTL\n",
		"$GENERATE 2-1 a$ A 192.0.2.1\n",
		"$GENERATE 1-2 a${1,2,q} A 192.0.2.1\n",
		"www TYPE65280 \\# 3 0102\n",
		"www A \\# 5 c000020100\n",
		strings.Repeat("a", 64) + " A 192.0.2.1\n",
		"\ufeffwww A 192.0.2.1 192.0.2.2\n",
	} {
		file := write(t, head+text)
		if _, problems := Load(Source{"example.com", file}, testVocabulary()); !problems.Failed(false) {
			t.Errorf("%q loads", text)
		}
		if out, err := exec.Command(checkzone, "example.com", file).CombinedOutput(); err == nil {
			t.Errorf("%q: named-checkzone is content: %s", text, out)
		}
	}
}
