package zone

import "strings"

// directive takes an entry that begins with a dollar sign.
func (l *loader) directive(e *entry, c *context) {
	cur := cursor{rest: e.text}
	name := strings.ToUpper(string(cur.word()))
	if e.note != nil && name != "$GENERATE" {
		l.fail(c, e.noteL, "annotation on "+name+", which is no record", "move it to the end of the record that it concerns")
	}
	var f *fault
	switch name {
	case "$ORIGIN":
		f = l.setOrigin(&cur, c)
	case "$TTL":
		f = l.setDefaultTTL(&cur)
	case "$INCLUDE":
		f = l.include(&cur, e.line, c)
	case "$GENERATE":
		f = l.generate(&cur, e, c)
	default:
		f = &fault{"unknown directive " + quote(name), `write \$ for a name that begins with a dollar sign`}
		if near := Nearest(name, []string{"$ORIGIN", "$TTL", "$INCLUDE", "$GENERATE"}); near != "" {
			f.hint = "did you mean " + near + "?"
		}
	}
	if f != nil {
		l.syntax = true
		l.fail(c, e.line, f.message, f.hint)
	}
}

// setOrigin obeys $ORIGIN NAME (RFC 1035 §5.1).
func (l *loader) setOrigin(cur *cursor, c *context) *fault {
	const hint = "it is: $ORIGIN NAME"
	w := cur.word()
	if w == nil {
		return &fault{"$ORIGIN without a name", hint}
	}
	if more := cur.word(); more != nil {
		return &fault{"unexpected " + quote(more) + " after $ORIGIN", hint}
	}
	name, f := absolute(nil, w, c.origin)
	if f == nil {
		c.enter(string(name))
	}
	return f
}

// enter changes the origin. The last owner stays the same name, but the word
// that gave it may now mean another.
func (c *context) enter(origin string) { c.origin, c.word = origin, c.word[:0] }

// setDefaultTTL obeys $TTL (RFC 2308 §4).
func (l *loader) setDefaultTTL(cur *cursor) *fault {
	const hint = "it is: $TTL SECONDS, or like $TTL 1h30m, and at most 2147483647"
	w := cur.word()
	if w == nil {
		return &fault{"$TTL without a value", hint}
	}
	ttl, ok := parseTTL(w)
	if !ok {
		return &fault{"bad TTL " + quote(w), hint}
	}
	if more := cur.word(); more != nil {
		return &fault{"unexpected " + quote(more) + " after $TTL", hint}
	}
	l.ttls.set(ttl, true)
	return nil
}
