package probe

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
	"unicode"
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
		if got := tidy(s); len(got) > maxLine+len("…") || strings.IndexFunc(got, unicode.IsControl) >= 0 {
			t.Errorf("%q became %q", s, got)
		}
	})
}

// What a reason or a step says is one printable line of bounded length, whatever
// the peer or the configuration put into it.
func TestReasonsAndStepsAreOneLine(t *testing.T) {
	at := serve(t, func(conn net.Conn) {
		say("HTTP/1.1 302 Found\r\nLocation: /x?\u009b31m\xff" + strings.Repeat("y", 5000) + "\r\n\r\n")(conn)
	})
	many := httpCheck(long, func(o *HTTP) {
		o.Redirects, o.Status = 1, nil
		for n := range 300 {
			o.Status = append(o.Status, StatusRange{400 + n%100, 400 + n%100})
		}
	})
	p, err := New(many, target(at), true)
	if err != nil {
		t.Fatal(err)
	}
	got := Round(context.Background(), p, many)
	want(t, Result{Outcome: got.Outcome, Reason: got.Reason}, Fail, "more than 1 redirect")
	texts := []string{}
	for _, s := range got.Steps {
		texts = append(texts, s.Info)
	}
	many.HTTP.Redirects = 0
	got = run(t, many, target(at))
	want(t, got, Fail, "status 302, want 400 or 401 or 402 or 403 or 404 or 405 or 406 or 407 or one of 292 more")
	_, err = New(httpCheck(long, func(o *HTTP) { o.Scheme, o.CAFile = "https", "/no\nsuch\x1b[31m/"+strings.Repeat("d/", 500) }), target(at), false)
	texts = append(texts, got.Reason, err.Error())
	for _, text := range texts {
		odd := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
		if len(text) > maxLine+len("…") || odd >= 0 || !utf8.ValidString(text) {
			t.Errorf("%d bytes, odd at %d: %q", len(text), odd, text)
		}
	}
}
