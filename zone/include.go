package zone

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of $INCLUDE.
const (
	maxDepth    = 8    // files within files, the zone file not counted
	maxIncludes = 1000 // in one zone
)

// include is one file of the chain that is being read.
type include struct {
	name string // relative to the zone file's directory
	info fs.FileInfo
}

// include obeys $INCLUDE FILE [ORIGIN] (RFC 1035 §5.1): the file begins with the
// last owner, and origin and last owner are the parent's again after it.
func (l *loader) include(cur *cursor, line int, c *context) *fault {
	const form = "it is: $INCLUDE FILE [ORIGIN]"
	w := cur.word()
	name := strings.Trim(string(w), `"`)
	if name == "" {
		return &fault{"$INCLUDE without a file", form}
	}
	origin := c.origin
	if o := cur.word(); o != nil {
		full, f := absolute(nil, o, c.origin)
		if f != nil {
			return f
		}
		origin = string(full)
	}
	if more := cur.word(); more != nil {
		return &fault{"unexpected " + quote(more) + " after $INCLUDE", form}
	}
	name = filepath.Clean(name)
	data, info, f := l.openInclude(name)
	if f == nil {
		f = l.loops(name, info)
	}
	if f != nil {
		return &fault{"$INCLUDE " + quote(name) + " " + f.message, f.hint}
	}
	l.includes = append(l.includes, include{name, info})
	l.read(data, &context{file: l.fileIndex(filepath.Join(l.dir, name)), origin: origin, owner: c.owner})
	l.includes = l.includes[:len(l.includes)-1]
	return nil
}

// openInclude reads a file inside the zone file's directory. The os.Root
// refuses what leads out of it, through symbolic links as well.
func (l *loader) openInclude(name string) ([]byte, fs.FileInfo, *fault) {
	outside := &fault{"leads out of the zone file's directory", "put the file into " + l.dir + " or below, and name it relative to that"}
	if !filepath.IsLocal(name) {
		return nil, nil, outside
	}
	if len(l.includes) > maxDepth {
		return nil, nil, &fault{"is nested too deeply: " + l.chain(name), "at most " + strconv.Itoa(maxDepth) + " files may stand within each other"}
	}
	if l.included++; l.included > maxIncludes {
		return nil, nil, &fault{"is one too many", "a zone may have " + strconv.Itoa(maxIncludes) + " of them"}
	}
	if l.root == nil {
		root, err := os.OpenRoot(l.dir)
		if err != nil {
			return nil, nil, cannotRead(err)
		}
		l.root = root
	}
	data, info, f := readFile(l.root, name)
	if f != nil && strings.HasSuffix(f.message, "path escapes from parent") {
		f = outside
	}
	return data, info, f
}

// loops refuses a file that is being read already.
func (l *loader) loops(name string, info fs.FileInfo) *fault {
	for _, i := range l.includes {
		if os.SameFile(i.info, info) {
			return &fault{"includes itself: " + l.chain(name), "remove one $INCLUDE of the circle"}
		}
	}
	return nil
}

// chain shows the files being read, and the one that would be next.
func (l *loader) chain(next string) string {
	var b strings.Builder
	for _, i := range l.includes {
		b.WriteString(i.name + " -> ")
	}
	return b.String() + next
}

func (l *loader) fileIndex(file string) uint16 {
	if i := slices.Index(l.files, file); i >= 0 {
		return uint16(i)
	}
	l.files = append(l.files, file)
	return uint16(len(l.files) - 1)
}
