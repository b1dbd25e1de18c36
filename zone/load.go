package zone

import (
	"bytes"
	"os"
	"path/filepath"
)

// Source is a zone as the configuration names it.
type Source struct {
	Name string // zone name; the final dot and case do not matter
	File string // path to open, and to show in messages
}

// loader holds the state of one Load.
type loader struct {
	zone  string // canonical origin
	dir   string
	root  *os.Root // of dir; opened for the first $INCLUDE
	voc   vocabulary
	files []string // as in Zone.Files
	rest  func()   // see LoadGently
	report

	ttls         ttls
	rdata        rdata
	includes     []include // the chain of files being read
	included     int       // how many $INCLUDE were followed
	generateLeft int       // records that $GENERATE may still make

	index   map[string]int32 // canonical name to index into owners
	owners  []owner
	records []record
	notes   []note
	name    []byte // scratch of setOwner
	canon   []byte

	syntax     bool // something was left out, so what seems missing may not be
	serialOnly bool // stop at the SOA
	serial     uint32
	done       bool
}

// Load reads one zone. The zone is nil when the problems hold an error;
// warnings may come with a zone. It lists up to 100 errors and 100 warnings.
func Load(src Source, voc Vocabulary) (*Zone, Problems) {
	return LoadGently(src, voc, func() {})
}

// LoadGently is Load that calls rest after each record, RRset and name, most of
// which take some microseconds: what runs beside it can have its turn there.
func LoadGently(src Source, voc Vocabulary, rest func()) (*Zone, Problems) {
	return loadBounded(src, voc, maxGenerated, rest)
}

// loadBounded is LoadGently with another bound for the records of all $GENERATE.
func loadBounded(src Source, voc Vocabulary, generate int, rest func()) (*Zone, Problems) {
	l := &loader{generateLeft: generate, dir: filepath.Dir(src.File), voc: newVocabulary(voc), files: []string{src.File}, rest: rest}
	defer l.close()
	name, f := absolute(nil, []byte(src.Name), ".")
	if f != nil || src.Name == "" || src.Name == "@" {
		l.report.add(Problem{File: src.File, Severity: Error, Message: "bad zone name " + quote(src.Name), Hint: "a zone name is like gslb.example.com"})
		return nil, l.report.list(l.files)
	}
	lower(name)
	l.zone = string(name)
	l.top(l.zone)
	var z *Zone
	if !l.report.full() {
		z = l.assemble()
	}
	problems := l.report.list(l.files)
	if problems.Failed(false) {
		return nil, problems
	}
	return z, problems
}

// top reads the zone file itself.
func (l *loader) top(origin string) {
	c := &context{origin: origin, owner: noOwner}
	data, info, f := readFile(anywhere{}, l.files[0])
	if f == nil && len(bytes.TrimSpace(data)) == 0 {
		f = &fault{"file is empty", "a zone needs at least an SOA and an NS record"}
	}
	if f != nil {
		l.syntax = true
		l.fail(c, 0, f.message, f.hint)
		return
	}
	lines := 0
	if !l.serialOnly {
		lines = bytes.Count(data, []byte{'\n'}) + 1
	}
	l.records = make([]record, 0, lines)
	l.index = make(map[string]int32, lines/2)
	l.owners = make([]owner, 0, lines/2)
	l.includes = []include{{name: filepath.Base(l.files[0]), info: info}}
	l.read(data, c)
}

// read takes the entries of one file.
func (l *loader) read(data []byte, c *context) {
	if line, f := notText(data); f != nil {
		l.syntax = true
		l.fail(c, line, f.message, f.hint)
		return
	}
	s := newScanner(data)
	for !l.done && !l.report.full() {
		e, ok := s.next()
		if !ok {
			return
		}
		l.entry(&e, c)
	}
}

// entry takes one record or directive.
func (l *loader) entry(e *entry, c *context) {
	switch {
	case e.fault != nil:
		l.syntax = true
		if len(e.text) > 0 && !blank(e.text[0]) {
			c.owner = badOwner // lines without an owner must not go to another
		}
		l.fail(c, e.line, e.fault.message, e.fault.hint)
	case len(e.text) == 0:
		if !l.serialOnly {
			l.stray(e, c)
		}
	case e.text[0] == '$':
		l.directive(e, c)
	default:
		note := int32(0)
		if e.note != nil && !l.serialOnly {
			note = l.annotate(e.note, e.noteL, c)
		}
		l.record(e.text, e.line, note, c)
	}
}

// fail reports an error in the file that c reads.
func (l *loader) fail(c *context, line int, message, hint string) {
	l.report.add(Problem{File: l.files[c.file], Line: line, Severity: Error, Message: message, Hint: hint})
}

// warn reports a warning in the file that c reads.
func (l *loader) warn(c *context, line int, message, hint string) {
	l.report.add(Problem{File: l.files[c.file], Line: line, Severity: Warning, Message: message, Hint: hint})
}

func (l *loader) close() {
	if l.root != nil {
		l.root.Close() // opened for reading only: nothing to lose
	}
}
