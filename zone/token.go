package zone

import "github.com/miekg/dns"

// cursor takes the words of an entry's text one by one.
type cursor struct{ rest []byte }

// word gives the next word, quotes and escapes as they stand; nil at the end.
func (c *cursor) word() []byte {
	c.skip()
	i := 0
	for quoted := false; i < len(c.rest); i++ {
		switch b := c.rest[i]; {
		case b == '\\':
			i++
			continue
		case b == '"':
			quoted = !quoted
			continue
		case quoted || !blank(b):
			continue
		}
		break
	}
	i = min(i, len(c.rest))
	w := c.rest[:i]
	c.rest = c.rest[i:]
	if len(w) == 0 {
		return nil
	}
	return w
}

// skip passes over blanks.
func (c *cursor) skip() {
	for len(c.rest) > 0 && blank(c.rest[0]) {
		c.rest = c.rest[1:]
	}
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' }

// keyword is a word in upper case, as far as keywords can be long.
type keyword struct {
	buf [16]byte
	n   int
}

// upper gives w as a keyword, an empty one for a word too long to be any.
func upper(w []byte) (k keyword) {
	if len(w) > len(k.buf) {
		return k
	}
	for i, b := range w {
		if 'a' <= b && b <= 'z' {
			b -= 'a' - 'A'
		}
		k.buf[i] = b
	}
	k.n = len(w)
	return k
}

// typeOf gives the RR type that a word names (RFC 3597 §5 for TYPEnnn).
func typeOf(w []byte) (uint16, bool) {
	k := upper(w)
	if t, ok := dns.StringToType[string(k.buf[:k.n])]; ok {
		return t, true
	}
	return k.numbered("TYPE")
}

// classOf gives the class that a word names (RFC 3597 §5 for CLASSnnn).
func classOf(w []byte) (uint16, bool) {
	k := upper(w)
	if c, ok := dns.StringToClass[string(k.buf[:k.n])]; ok {
		return c, true
	}
	return k.numbered("CLASS")
}

func (k *keyword) numbered(prefix string) (uint16, bool) {
	if k.n <= len(prefix) || string(k.buf[:len(prefix)]) != prefix {
		return 0, false
	}
	n, ok := decimal(string(k.buf[len(prefix):k.n]), 65535)
	return uint16(n), ok
}

// decimal reads digits alone, up to limit.
func decimal(s string, limit uint64) (uint64, bool) {
	var n uint64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n = n*10 + uint64(s[i]-'0'); n > limit {
			return 0, false
		}
	}
	return n, s != ""
}
