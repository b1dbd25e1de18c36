package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// setter checks the value of a field and stores it where it was made to.
type setter = func(*reader, field)

// text stores a string of at most max bytes. Numbers and other scalars are
// taken as they are written: "expect: 220" means the text 220.
func text(dst *string, max int) setter {
	return func(r *reader, f field) {
		if s, ok := r.scalar(f, "text"); ok {
			if len(s) > max {
				r.fail(f, fmt.Sprintf("at most %d bytes", max), "%d bytes are too long", len(s))
				return
			}
			*dst = s
		}
	}
}

// label stores a short printable text without spaces.
func label(dst *string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a name")
		if ok && (s == "" || len(s) > 255 || !printable(s)) {
			r.fail(f, "1 to 255 printable ASCII characters without spaces", "%s is not a name", quote(s))
			return
		}
		if ok {
			*dst = s
		}
	}
}

// path stores a file name, relative ones resolved against the directory of the
// configuration file.
func path(dst *string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a path")
		switch {
		case !ok:
		case s == "":
			r.fail(f, "name a file, or leave the key out", "empty path")
		default:
			*dst = r.resolve(s)
		}
	}
}

// socket stores the path of a Unix socket.
func socket(dst *string) setter {
	return func(r *reader, f field) {
		var file string
		if path(&file)(r, f); file != "" && r.socketLength(f, file) {
			*dst = file
		}
	}
}

// socketLength reports a path that no socket can have.
func (r *reader) socketLength(f field, file string) bool {
	if len(file) > maxSocket {
		r.fail(f, "choose a shorter path", "%s is %d bytes long, a socket path holds at most %d", file, len(file), maxSocket)
		return false
	}
	return true
}

// directory stores the name of a directory as path does; "" means none.
func directory(dst *string) setter {
	return func(r *reader, f field) {
		if f.node.Kind == yaml.ScalarNode && f.node.Value == "" && !isNull(f.node) {
			*dst = ""
			return
		}
		path(dst)(r, f)
	}
}

// boolean stores true or false.
func boolean(dst *bool) setter {
	return func(r *reader, f field) {
		if f.node.Kind != yaml.ScalarNode || f.node.ShortTag() != "!!bool" || f.node.Decode(dst) != nil {
			r.fail(f, "true or false", "%s is neither true nor false", describe(f.node))
		}
	}
}

// integer stores a whole number from low to high.
func integer(dst *int, low, high int) setter {
	return func(r *reader, f field) {
		hint := fmt.Sprintf("%d to %d", low, high)
		written := f.node.Value
		plain := f.node.Kind == yaml.ScalarNode && f.node.ShortTag() != "!!str"
		if plain && len(written) > 9 && strings.Trim(written, "-0123456789") == "" {
			r.fail(f, hint, "%s is out of range", written)
			return
		}
		if f.node.Kind != yaml.ScalarNode || f.node.ShortTag() != "!!int" {
			if _, err := strconv.Atoi(written); err == nil && f.node.Kind == yaml.ScalarNode {
				hint += ", without quotes or leading zeros"
			}
			r.fail(f, hint, "%s is not a whole number", describe(f.node))
			return
		}
		if len(written) > 1 && written[0] == '0' && strings.Trim(written, "0123456789") == "" {
			r.fail(f, hint+", without leading zeros", "%s would be read as octal", written)
			return
		}
		var n int
		if err := f.node.Decode(&n); err != nil || n < low || n > high {
			r.fail(f, hint, "%s is out of range", written)
			return
		}
		*dst = n
	}
}

// port stores a TCP or UDP port.
func port(dst *uint16) setter {
	return func(r *reader, f field) {
		var n int
		if integer(&n, 1, 65535)(r, f); n != 0 {
			*dst = uint16(n)
		}
	}
}

// duration stores a Go duration from low to high.
func duration(dst *time.Duration, low, high time.Duration) setter {
	return func(r *reader, f field) {
		hint := fmt.Sprintf("%s to %s", short(low), short(high))
		s, ok := r.scalar(f, "a duration")
		if !ok {
			return
		}
		d, err := time.ParseDuration(s)
		switch {
		case f.node.ShortTag() == "!!int" || f.node.ShortTag() == "!!float":
			r.fail(f, fmt.Sprintf("%ss for seconds; %s", strings.TrimPrefix(s, "+"), hint), "%s has no unit", s)
		case err != nil:
			r.fail(f, "a duration such as 500ms, 10s, 5m or 1h30m; "+hint, "%s is not a duration", quote(s))
		case d < low || d > high:
			r.fail(f, hint, "%s is out of range", s)
		default:
			*dst = d
		}
	}
}

// word is one value of an option that has a fixed set of them.
type word[T any] struct {
	name  string
	value T
}

// same gives words that stand for themselves.
func same(names ...string) []word[string] {
	var words []word[string]
	for _, name := range names {
		words = append(words, word[string]{name, name})
	}
	return words
}

// choice stores the value of one of the words, whatever their case; those in
// later are documented but not built.
func choice[T any](dst *T, words []word[T], later ...string) setter {
	return func(r *reader, f field) {
		s, ok := r.scalar(f, "a word")
		if !ok {
			return
		}
		var names []string
		for _, w := range words {
			if strings.EqualFold(w.name, s) {
				*dst = w.value
				return
			}
			names = append(names, w.name)
		}
		r.notAmong(f, s, names, later)
	}
}

// notAmong reports a word that is none of the names.
func (r *reader) notAmong(f field, s string, names, later []string) {
	hint := "one of " + strings.Join(names, ", ")
	if len(names) == 1 {
		hint = "the only value is " + names[0]
	}
	for _, l := range later {
		if strings.EqualFold(l, s) {
			r.fail(f, hint, "%s is not available in this version", quote(s))
			return
		}
	}
	if near := didYouMean(s, slices.Concat(names, later)); near != "" && names[0] > "9" { // a number is not near another
		hint = near
	}
	r.fail(f, hint, "unknown value %s", quote(s))
}

// scalar gives the text of a single value as written.
func (r *reader) scalar(f field, what string) (string, bool) {
	if f.node.Kind == yaml.ScalarNode {
		switch f.node.ShortTag() {
		case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
			return f.node.Value, true
		}
	}
	hint := "a single value, without brackets, braces or lines of its own"
	switch {
	case isNull(f.node):
		hint = "give one, or leave the key out"
	case isTagged(f.node):
		hint = "leave out the tag"
	}
	r.fail(f, hint, "%s where %s belongs", describe(f.node), what)
	return "", false
}

// list gives the items of a list; a single value is a list of one.
func (r *reader) list(f field) []field {
	if f.node.Kind != yaml.SequenceNode {
		return []field{f}
	}
	items := []field{}
	for _, node := range f.node.Content {
		items = append(items, field{path: f.path, line: node.Line, node: target(node)})
	}
	return items
}

// words gives the items of a list, or of a comma list, in lower case.
func (r *reader) words(f field, what string) ([]string, bool) {
	words, ok := []string{}, true
	for _, item := range r.list(f) {
		s, fine := r.scalar(item, what)
		ok = ok && fine
		for _, w := range strings.Split(s, ",") {
			words = append(words, strings.ToLower(strings.TrimSpace(w)))
		}
	}
	return words, ok
}

// short gives a duration without its empty units: 24h, not 24h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// describe names a value in a message.
func describe(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "a map"
	case isNull(node):
		return "nothing"
	case isTagged(node):
		return "a value tagged " + quote(node.Tag)
	case node.ShortTag() == "!!int" || node.ShortTag() == "!!float" || node.ShortTag() == "!!bool":
		return node.Value
	}
	return quote(node.Value)
}

// isTagged reports whether a value carries a tag that YAML itself does not define.
func isTagged(node *yaml.Node) bool {
	return strings.HasPrefix(node.Tag, "!") && !strings.HasPrefix(node.Tag, "!!") && node.Tag != "!"
}

// quote shows a text in a message, cut where it is long.
func quote(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strconv.Quote(s)
}

// shown gives a key as a path shows it: quoted where it could be misread.
func shown(key string) string {
	if key == "" || len(key) > 60 || !printable(key) {
		return quote(key)
	}
	return key
}

// shownText gives the words of another library on one line of a message.
func shownText(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, s)
}

// printable reports whether s holds nothing but ASCII without spaces and
// control characters.
func printable(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f }) < 0
}
