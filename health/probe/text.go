package probe

import (
	"strconv"
	"strings"
	"time"
)

// maxText bounds what a peer can put into a reason, in bytes.
const maxText = 100

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
