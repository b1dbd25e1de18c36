package probe

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `""`},
		{"OK", `"OK"`},
		{`say "hi"`, `"say \"hi\""`},
		{"正常", `"正常"`},
		{"a\x00\x1b[31m\r\n", `"a\x00\x1b[31m\r\n"`},
		{strings.Repeat("a", 98), `"` + strings.Repeat("a", 98) + `"`},
		{"\u202egpj", `"\u202egpj"`},
	} {
		if got := quote(c.in); got != c.want {
			t.Errorf("quote(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	for _, s := range []string{"a", "\x00", "\xff", "界", "\"", "\u202e"} {
		for _, show := range []func(string) string{quote, plain} {
			got := show(strings.Repeat(s, 1<<16))
			if len(got) > maxText+len("…") || len(got) < maxText/2 || !utf8.ValidString(got) {
				t.Errorf("%q repeated became %d bytes: %s", s, len(got), got)
			}
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"other.example": "other.example",
		"a b":           "a b",
		"":              `""`,
		"a\nb":          `"a\nb"`,
		"bücher":        `"bücher"`,
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for in, want := range map[time.Duration]string{
		75 * time.Hour:                "3 days",
		47 * time.Hour:                "1 day",
		23*time.Hour + 59*time.Minute: "23 hours",
		time.Hour:                     "1 hour",
		59 * time.Minute:              "59 minutes",
		time.Minute + 30*time.Second:  "1 minute",
		59 * time.Second:              "less than a minute",
		0:                             "less than a minute",
		-time.Hour:                    "less than a minute",
		365 * 24 * time.Hour * 2:      "730 days",
	} {
		if got := span(in); got != want {
			t.Errorf("span(%s) = %s, want %s", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("OK")
	f.Add("\x00\xff界\"")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{quote(s), plain(s)} {
			if len(got) > maxText+len("…") || strings.ContainsAny(got, "\r\n\x00\x1b") {
				t.Errorf("%q became %q", s, got)
			}
		}
	})
}
