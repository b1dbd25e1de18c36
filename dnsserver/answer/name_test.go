package answer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestAppendName(t *testing.T) {
	label := strings.Repeat("a", 63)
	for _, name := range []string{
		".", "a.", "Www.Example.", `a\.b.c.`, `\000\255.x.`, `\@.\\.`, `\"q.`, "*.a.", label + ".", strings.Repeat(label+".", 3) + strings.Repeat("b", 61) + ".",
		strings.Repeat("x.", 127), `\120y.`,
	} {
		want := make([]byte, 300)
		n, err := dns.PackDomainName(name, want, 0, nil, false)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := appendName([]byte("before"), name)
		if err != nil || !bytes.Equal(got, append([]byte("before"), want[:n]...)) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want[:n])
		}
	}
	for name, want := range map[string]string{
		"a":                                "does not end with a dot",
		"":                                 "is empty",
		`a\.`:                              "does not end with a dot",
		"..":                               "has a label of 0 bytes",
		"a..b.":                            "has a label of 0 bytes",
		label + "a.":                       "has a label of 64 bytes",
		strings.Repeat(label+".", 4):       "is longer than 255 bytes",
		strings.Repeat("x.", 128):          "is longer than 255 bytes",
		`a\`:                               "does not end with a dot",
		strings.Repeat("b", 300) + `\1.x.`: "has a label of",
	} {
		if got, err := appendName(nil, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, error %v; want %q", name, got, err, want)
		}
	}
}
