package probe

import (
	"bytes"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"time"
)

// maxStates bounds a file of states, in bytes.
const maxStates = 16 << 20

// said is what a file says about one address.
type said struct {
	state string // in lower case if it is up or down
	line  int    // the first on the address; 0 without one
	twice bool   // two lines contradict each other
}

// stateCache keeps what was read, so that thousands of members that share a
// file read it once per change. Who uses it takes turns.
type stateCache struct {
	info  fs.FileInfo // of what was read; nil before
	at    time.Time   // of the reading
	text  bytes.Buffer
	next  bytes.Buffer // for the text that is read: where it is the same, what it says is known
	lines map[netip.Addr]said
}

// settled is how far from its reading a file's time must be to tell whether it
// was written again: the grain of that time, and some more. A time in the
// future was set, and a later writing changes it.
const settled = 100 * time.Millisecond

// lookup gives what the open file says about addr.
func (c *stateCache) lookup(file *os.File, info fs.FileInfo, addr netip.Addr) (said, error) {
	if info.Size() > maxStates { // which every probe would read again
		return said{}, errTooLong
	}
	if c.info == nil || !os.SameFile(c.info, info) || c.info.Size() != info.Size() ||
		!c.info.ModTime().Equal(info.ModTime()) || c.at.Sub(info.ModTime()).Abs() < settled {
		if err := c.read(file, info); err != nil {
			return said{}, err
		}
	}
	return c.lines[addr], nil
}

func (c *stateCache) read(file *os.File, info fs.FileInfo) error {
	c.info, c.at = nil, time.Now()
	c.next.Reset()
	if _, err := c.next.ReadFrom(io.LimitReader(file, maxStates+1)); err != nil {
		return err
	}
	if c.next.Len() > maxStates {
		return errTooLong
	}
	if c.lines == nil || !bytes.Equal(c.next.Bytes(), c.text.Bytes()) {
		c.lines = parseStates(c.next.Bytes())
		c.text, c.next = c.next, c.text
	}
	c.info = info
	return nil
}

// parseStates reads lines of an address and a state. Comments begin with #;
// lines of other forms are passed over.
func parseStates(text []byte) map[netip.Addr]said {
	lines := map[netip.Addr]said{}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // a mark that some editors write
	for n := 1; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		line, _, _ = bytes.Cut(line, []byte("#"))
		line = bytes.TrimSpace(line)
		end := bytes.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		addr, err := netip.ParseAddr(string(line[:end]))
		if err != nil {
			continue
		}
		addr = addr.Unmap()
		state := stateWord(line[end:])
		before := lines[addr]
		if before.line > 0 {
			before.twice = before.twice || before.state != state
			lines[addr] = before
			continue
		}
		lines[addr] = said{state: state, line: n}
	}
	return lines
}

// stateWord is the rest of a line; all ups and downs are the same text.
func stateWord(b []byte) string {
	b = bytes.TrimSpace(b)
	for _, known := range [...]string{"up", "down"} {
		if strings.EqualFold(string(b), known) {
			return known
		}
	}
	return string(b[:min(len(b), maxText+1)])
}
