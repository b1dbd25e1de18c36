package zone

import (
	"bytes"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// record is one RR of the zone, with its place.
type record struct {
	rr    dns.RR
	owner int32 // index into loader.owners
	line  int32
	note  int32 // index into loader.notes plus 1; 0 = no annotation
	file  uint16
	typ   uint16 // of rr
}

// owner is a name that holds records.
type owner struct {
	name string // canonical
	text string // as first written in the zone's files
	// lossy means that a record could not be read, so that what its RRsets
	// seem to lack may stand there.
	lossy bool
}

// Values of context.owner that are no index.
const (
	noOwner  int32 = -1 // none yet
	badOwner int32 = -2 // faulty or outside the zone; already reported
)

// context is what one file's records depend on; $INCLUDE starts a new one.
type context struct {
	file   uint16 // index into loader.files
	origin string // fully qualified
	owner  int32
	word   []byte // the word that named owner
}

// header is what stands between a record's owner and its data.
type header struct {
	ttl    uint32
	hasTTL bool
	kind   []byte // the type as written
	typ    uint16
}

// record reads one record and reports whether it could. note is the index of
// its annotation plus 1.
func (l *loader) record(text []byte, line int, note int32, c *context) bool {
	l.rest()
	cur := cursor{rest: text}
	if !blank(text[0]) {
		l.setOwner(cur.word(), line, c)
	} else if c.owner == noOwner {
		l.fail(c, line, "record has no owner name, and none stands before it", "begin the line with a name, or with @ for the origin")
		c.owner = badOwner
	}
	h, f := parseHeader(&cur)
	if f == nil && l.serialOnly && h.typ != dns.TypeSOA {
		return true
	}
	var rr dns.RR
	if f == nil {
		rr, f = l.rdata.parse(h.typ, h.kind, cur.rest, c.origin)
	}
	if f == nil {
		f = l.setTTL(rr, &h)
	}
	if f == nil {
		rr, f = l.rdata.settle(rr)
	}
	if f != nil {
		l.lose(c)
		if mark := foreignComment(text); mark != "" {
			f = &fault{"a line that begins with " + mark + " is no record", "comments begin with a semicolon"}
		}
		l.fail(c, line, f.message, f.hint)
		return false
	}
	if c.owner < 0 {
		return false
	}
	rr.Header().Name = l.owners[c.owner].text
	if soa, ok := rr.(*dns.SOA); ok && l.serialOnly {
		l.serial, l.done = soa.Serial, true
	}
	l.records = append(l.records, record{rr, c.owner, int32(line), note, c.file, h.typ})
	return true
}

// foreignComment gives the mark with which other languages begin a comment, if
// text begins so. As an owner name it is legal, so only a line that is no record
// is asked.
func foreignComment(text []byte) string {
	for _, mark := range []string{"#", "//"} {
		if bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte(mark)) {
			return mark
		}
	}
	return ""
}

// lose notes that a record of the current owner is left out.
func (l *loader) lose(c *context) {
	l.syntax = true
	if c.owner >= 0 {
		l.owners[c.owner].lossy = true
	}
}

// setOwner makes the name that word gives the current owner.
func (l *loader) setOwner(word []byte, line int, c *context) {
	if c.owner >= 0 && string(c.word) == string(word) {
		return
	}
	c.word = append(c.word[:0], word...)
	c.owner = badOwner
	var f *fault
	if l.name, f = absolute(l.name, word, c.origin); f != nil {
		l.syntax = true
		l.fail(c, line, f.message, f.hint)
		return
	}
	text := ""
	l.canon = append(l.canon[:0], l.name...)
	if lower(l.canon) {
		text = string(l.name)
	}
	if i, ok := l.index[string(l.canon)]; ok {
		c.owner = i
		return
	}
	name := string(l.canon)
	if !within(name, l.zone) {
		hint := "the zone is " + Display(l.zone) + "; a name without final dot gets the origin " + Display(c.origin) + " appended"
		l.fail(c, line, "name "+Display(name)+" is outside the zone", hint)
		return
	}
	if text == "" {
		text = name
	}
	c.owner = int32(len(l.owners))
	l.owners = append(l.owners, owner{name: name, text: text})
	l.index[name] = c.owner
}

// parseHeader reads [TTL] [class] type, the first two in either order.
func parseHeader(cur *cursor) (h header, f *fault) {
	class := false
	for {
		w := cur.word()
		if w == nil {
			return h, &fault{"record has no type", "a record is: NAME [TTL] [IN] TYPE DATA"}
		}
		if c, ok := classOf(w); ok && !class && c != dns.ClassANY {
			if c != dns.ClassINET {
				return h, &fault{"class " + strings.ToUpper(string(w)) + " is not served", "only class IN is; leave the class out or write IN"}
			}
			class = true
			continue
		}
		if w[0] >= '0' && w[0] <= '9' && !h.hasTTL {
			if h.ttl, h.hasTTL = parseTTL(w); !h.hasTTL {
				return h, &fault{"bad TTL " + quote(w), "a TTL is seconds, or like 1h30m, and at most 2147483647"}
			}
			continue
		}
		h.kind = w
		break
	}
	if h.typ, f = recordType(h.kind); f != nil {
		return h, f
	}
	cur.skip()
	if len(cur.rest) == 0 {
		return h, &fault{"record has no data", `write them after the type, \# 0 for none`}
	}
	return h, nil
}

// recordType gives the type that a word names; meta-types (RFC 6895 §3.1)
// exist in messages only.
func recordType(w []byte) (uint16, *fault) {
	t, ok := typeOf(w)
	if !ok {
		known := make([]string, 0, len(dns.StringToType))
		for name := range dns.StringToType {
			known = append(known, name)
		}
		slices.Sort(known)
		hint := "write TYPEnnn for a type without a name (RFC 3597)"
		if near := Nearest(string(w), known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return 0, &fault{"unknown type " + quote(w), hint}
	}
	if t == dns.TypeNone || t == dns.TypeOPT || t >= 128 && t <= 255 || t == dns.TypeReserved {
		return 0, &fault{"type " + strings.ToUpper(string(w)) + " cannot stand in a zone", "it exists in messages only; remove the record"}
	}
	return t, nil
}

// setTTL gives rr its TTL, and remembers it for those that follow.
func (l *loader) setTTL(rr dns.RR, h *header) *fault {
	if soa, ok := rr.(*dns.SOA); ok && !h.hasTTL && !l.ttls.known {
		if soa.Minttl > maxTTL {
			return &fault{"SOA MINIMUM is greater than 2147483647", "it is seconds, usually 60 to 3600"}
		}
		h.ttl, h.hasTTL = soa.Minttl, true
	}
	if h.hasTTL {
		l.ttls.set(h.ttl, false)
	} else if !l.ttls.known {
		return &fault{"record has no TTL, and nothing before it sets one", "put a line like $TTL 60 before it"}
	} else {
		h.ttl = l.ttls.value
	}
	rr.Header().Ttl = h.ttl
	return nil
}
