package probe

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxText bounds what a peer can put into a reason, in bytes.
const maxText = 100

// maxLine bounds a reason and what a step tells, in bytes, whatever their parts.
const maxLine = 400

// tidy makes a text one line that a terminal can be given: what is not printable
// is replaced, and what is too long cut.
func tidy(s string) string {
	odd := func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }
	if len(s) <= maxLine && strings.IndexFunc(s, odd) < 0 {
		return s
	}
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if odd(r) {
			return '?'
		}
		return r
	}, s)
}

// quote shows bytes that a peer or a configuration chose: quoted, without
// control characters, at most maxText long.
func quote(s string) string {
	cut := min(len(s), maxText)
	for {
		q := strconv.Quote(s[:cut])
		if cut < len(s) {
			q += "…"
		}
		over := len(q) - maxText - len("…")
		if over <= 0 || cut == 0 {
			return q
		}
		cut -= (over + 3) / 4 // one byte becomes at most four
	}
}

// plain shows s as it is when it is short printable ASCII, else quoted.
func plain(s string) string {
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if s == "" || len(s) > maxText || strings.ContainsFunc(s, odd) {
		return quote(s)
	}
	return s
}

// span is a duration as a person says it: the largest unit alone.
func span(d time.Duration) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / u.size); n == 1 {
			return "1 " + u.name
		} else if n > 1 {
			return strconv.Itoa(n) + " " + u.name + "s"
		}
	}
	return "less than a minute"
}
