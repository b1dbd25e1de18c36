package zone

import "bytes"

// maxEntry bounds the text of one entry, in octets: 65,535 octets of RDATA
// written as \DDD, with room for owner, type and blanks.
const maxEntry = 320 << 10

// entry is one record or directive of a master file (RFC 1035 §5.1), on
// however many lines. Its slices are valid until the next call of next.
type entry struct {
	line int // where it begins
	// text is the entry on one line: without comments, parentheses and
	// trailing blanks. Empty where a comment stands alone.
	text  []byte
	note  []byte // the annotation, from its "@" on; nil without one
	noteL int    // line of note
	// fault says why the entry cannot be used; it stands at line.
	fault *fault
}

// fault is a problem that does not know its place yet.
type fault struct{ message, hint string }

// scanner splits a master file into entries.
type scanner struct {
	data []byte
	pos  int
	line int // of data[pos], 1-based
	buf  []byte
	// named means that a parenthesis was the first thing on a line: the blanks
	// behind it do not stand for the last owner.
	named bool
}

func newScanner(data []byte) *scanner { return &scanner{data: data, line: 1} }

// next gives the next entry that holds more than blanks and plain comments.
func (s *scanner) next() (entry, bool) {
	for s.pos < len(s.data) {
		e, simple := s.simple()
		if !simple {
			e = s.complex()
		}
		if len(e.text) > 0 || e.note != nil || e.fault != nil {
			return e, true
		}
	}
	return entry{}, false
}

// simple takes an entry that is one line without quotes, escapes, comments
// and parentheses, as most are; false leaves the scanner where it was.
func (s *scanner) simple() (entry, bool) {
	end := len(s.data)
	for i := s.pos; i < end; i++ {
		switch s.data[i] {
		case ';', '"', '(', ')', '\\':
			return entry{}, false
		case '\n':
			end = i
		}
	}
	e := entry{line: s.line, text: trimRight(s.data[s.pos:end])}
	s.pos = min(end+1, len(s.data))
	s.line++
	return e.checked(), true
}

func (e entry) checked() entry {
	if len(e.text) > maxEntry {
		e.fault = &fault{"record is longer than any record can be", "a quote or parenthesis may be missing before it"}
	}
	return e
}

func trimRight(text []byte) []byte {
	for n := len(text); n > 0; n-- {
		if c := text[n-1]; c != ' ' && c != '\t' && c != '\r' {
			return text[:n]
		}
	}
	return nil
}

// complex takes any entry. A fault does not end it: the scanner goes on to the
// end of the entry, so that the next one is read right.
func (s *scanner) complex() entry {
	e := entry{line: s.line}
	s.buf, s.named = s.buf[:0], false
	depth, opened := 0, 0
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		s.pos++
		switch c {
		case '\n':
			s.line++
			if depth == 0 {
				return s.finish(e)
			}
			c = ' '
		case ';':
			s.comment(&e)
			continue
		case '"':
			s.quoted(&e)
			continue
		case '\\':
			s.put(c)
			if s.pos == len(s.data) || s.data[s.pos] == '\n' {
				continue
			}
			s.escape(&e)
			c = s.data[s.pos]
			s.pos++
		case '(':
			if depth == 0 {
				opened = s.line
			}
			depth++
			s.named = s.named || len(s.buf) == 0
			c = ' '
		case ')':
			if depth == 0 {
				e.fail(s.line, "closing parenthesis without an opening one", `remove it, or write \) for a parenthesis in a name`)
			} else {
				depth--
			}
			c = ' '
		}
		s.put(c)
	}
	if depth > 0 {
		e.fault = nil // the missing parenthesis is the cause of any other
		e.fail(opened, "opening parenthesis is never closed", "add the closing one; nothing after this line was read")
	}
	return s.finish(e)
}

// put keeps one octet of an entry; one past maxEntry is enough to know.
func (s *scanner) put(c byte) {
	if len(s.buf) <= maxEntry && !(s.named && len(s.buf) == 0 && blank(c)) {
		s.buf = append(s.buf, c)
	}
}

func (s *scanner) finish(e entry) entry {
	e.text = trimRight(s.buf)
	if e.fault != nil {
		return e
	}
	return e.checked()
}

// fail records the first fault of an entry.
func (e *entry) fail(line int, message, hint string) {
	if e.fault == nil {
		e.fault, e.line = &fault{message, hint}, line
	}
}

// quoted copies a quoted string, of which the opening quote was just read.
func (s *scanner) quoted(e *entry) {
	s.put('"')
	for s.pos < len(s.data) && s.data[s.pos] != '\n' {
		c := s.data[s.pos]
		s.pos++
		s.put(c)
		switch {
		case c == '"':
			return
		case c == '\\' && s.pos < len(s.data) && s.data[s.pos] != '\n':
			s.escape(e)
			s.put(s.data[s.pos])
			s.pos++
		}
	}
	e.fail(s.line, "quote is not closed on its line", `close it, or write \" for a quote inside a string`)
}

// escape checks what follows a backslash: an octet that is no digit, or three
// digits up to 255 (RFC 1035 §5.1).
func (s *scanner) escape(e *entry) {
	rest := s.data[s.pos:min(s.pos+3, len(s.data))]
	if rest[0] < '0' || rest[0] > '9' {
		return
	}
	rest, _, _ = bytes.Cut(rest, []byte{'\n'})
	if _, ok := decimal(string(rest), 255); !ok || len(rest) < 3 {
		e.fail(s.line, "bad escape "+quote(`\`+string(rest)), `a backslash is followed by three digits up to 255, or by a character that is no digit`)
	}
}

// comment takes the rest of the line, of which the semicolon was just read.
func (s *scanner) comment(e *entry) {
	rest := s.data[s.pos:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	s.pos += len(rest)
	text := bytes.TrimLeft(rest, " \t")
	if len(text) == 0 || text[0] != '@' {
		return
	}
	if e.note != nil {
		e.fail(s.line, "second annotation in one record", "put everything into one annotation: ; @POOL KEY=VALUE ...")
		return
	}
	e.note, e.noteL = trimRight(text), s.line
}
