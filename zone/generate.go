package zone

import (
	"bytes"
	"strconv"
	"strings"
)

// maxGenerated bounds the records that all $GENERATE of a zone make.
const maxGenerated = 1 << 20

// generate obeys $GENERATE START-STOP[/STEP] RECORD: RECORD is read once for
// each value, with $ and ${OFFSET,WIDTH,BASE} replaced, in the annotation too.
func (l *loader) generate(cur *cursor, e *entry, c *context) *fault {
	if l.serialOnly {
		return nil // it makes no SOA
	}
	w := cur.word()
	r, f := parseRange(w)
	if f != nil {
		return f
	}
	cur.skip()
	if len(cur.rest) == 0 {
		return &fault{"$GENERATE without a record", generateForm}
	}
	count := int(min((r.stop-r.start)/r.step, maxGenerated) + 1)
	if count > l.generateLeft {
		return &fault{"$GENERATE would make more than " + strconv.Itoa(maxGenerated) + " records in this zone", "make the range smaller"}
	}
	l.generateLeft -= count
	text, f := parseTemplate(cur.rest)
	if f != nil {
		return f
	}
	notes, f := parseTemplate(e.note)
	if f != nil {
		return f
	}
	shared := int32(0)
	if e.note != nil && len(notes) == 1 {
		shared = l.annotate(e.note, e.noteL, c)
	}
	inner := *c // the last owner stays what it was, as in BIND
	inner.word = nil
	var line, comment []byte
	for v := r.start; v <= r.stop && !l.report.full(); v += r.step {
		if line, f = text.expand(line[:0], v); f != nil {
			return f
		}
		n := shared
		if len(notes) > 1 {
			if comment, f = notes.expand(comment[:0], v); f != nil {
				return f
			}
			n = l.annotate(comment, e.noteL, c)
		}
		if !l.record(line, e.line, n, &inner) {
			break // the others would fail in the same way
		}
	}
	return nil
}

const generateForm = "it is: $GENERATE START-STOP[/STEP] NAME [TTL] [IN] TYPE DATA"

// span is the range of a $GENERATE.
type span struct{ start, stop, step int64 } // whose sums exceed 32 bits

func parseRange(w []byte) (span, *fault) {
	bad := func() (span, *fault) { return span{}, &fault{"bad $GENERATE range " + quote(w), generateForm} }
	ends, step, stepped := strings.Cut(string(w), "/")
	start, stop, ok := strings.Cut(ends, "-")
	const limit = 1<<31 - 1
	from, ok1 := decimal(start, limit)
	to, ok2 := decimal(stop, limit)
	by, ok3 := uint64(1), true
	if stepped {
		by, ok3 = decimal(step, limit)
	}
	if !ok || !ok1 || !ok2 || !ok3 || by == 0 || from > to {
		return bad()
	}
	return span{int64(from), int64(to), int64(by)}, nil
}

// template is a $GENERATE record: literal text, each piece but the last
// followed by a number.
type template []piece

type piece struct {
	text   []byte
	number bool // a number follows
	offset int64
	width  int
	base   byte // d, o, x, X, n, N
}

// parseTemplate finds the numbers. As in BIND, $$ is a dollar sign, and what
// stands behind a backslash is left as it is.
func parseTemplate(text []byte) (template, *fault) {
	var t template
	var lit []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			lit = append(lit, text[i], text[i+1])
			i++
		case text[i] != '$':
			lit = append(lit, text[i])
		case i+1 < len(text) && text[i+1] == '$':
			lit = append(lit, '$')
			i++
		default:
			p := piece{text: lit, number: true, base: 'd'}
			lit = nil
			if i+1 < len(text) && text[i+1] == '{' {
				end := bytes.IndexByte(text[i:], '}')
				if end < 0 || !p.modify(string(text[i+2:i+end])) {
					return nil, &fault{"bad $GENERATE modifier in " + quote(text[i:]), "it is: ${OFFSET[,WIDTH[,BASE]]} with a base of d, o, x, X, n or N"}
				}
				i += end
			}
			t = append(t, p)
		}
	}
	return append(t, piece{text: lit}), nil
}

// modify reads OFFSET[,WIDTH[,BASE]].
func (p *piece) modify(s string) bool {
	parts := strings.Split(s, ",")
	if len(parts) > 3 {
		return false
	}
	offset, err := strconv.ParseInt(parts[0], 10, 32)
	if err != nil {
		return false
	}
	p.offset = offset
	if len(parts) > 1 {
		width, ok := decimal(parts[1], maxName)
		if !ok {
			return false
		}
		p.width = int(width)
	}
	if len(parts) > 2 {
		if len(parts[2]) != 1 || !strings.Contains("doxXnN", parts[2]) {
			return false
		}
		p.base = parts[2][0]
	}
	return true
}

// expand appends the text for one value.
func (t template) expand(dst []byte, value int64) ([]byte, *fault) {
	for _, p := range t {
		dst = append(dst, p.text...)
		if !p.number {
			continue
		}
		v := value + p.offset
		if v < 0 {
			return dst, &fault{"$GENERATE offset " + strconv.FormatInt(p.offset, 10) + " makes " + strconv.FormatInt(value, 10) + " negative", "begin the range later, or use a smaller offset"}
		}
		dst = p.format(dst, v)
	}
	return dst, nil
}

func (p *piece) format(dst []byte, v int64) []byte {
	base := 10
	switch p.base {
	case 'n', 'N':
		return p.nibbles(dst, v)
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
	}
	digits := strconv.FormatInt(v, base)
	if p.base == 'X' {
		digits = strings.ToUpper(digits)
	}
	for n := len(digits); n < p.width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// nibbles writes hexadecimal digits from the lowest on, each a label, as
// ip6.arpa wants; the width counts the dots.
func (p *piece) nibbles(dst []byte, v int64) []byte {
	hex := "0123456789abcdef"
	if p.base == 'N' {
		hex = "0123456789ABCDEF"
	}
	for width := p.width; ; {
		dst = append(dst, hex[v&15])
		v >>= 4
		width--
		if v == 0 && width <= 0 {
			return dst
		}
		dst = append(dst, '.')
		width--
		if v == 0 && width <= 0 {
			return dst
		}
	}
}
