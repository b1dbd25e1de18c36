package probe

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"syscall"
	"time"
)

type fileProber struct {
	common
	opts   *File // shared by the probes of a check, for its cache
	target netip.Addr
	open   func(path string) (*os.File, error)
}

func newFile(c Check, t Target, base common) (Prober, error) {
	return &fileProber{common: base, opts: c.File, target: t.Addr, open: openFile}, nil
}

// openFile opens for reading. A named pipe without writer does not hold it up.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// Probe looks up what the file says about the target. Whatever keeps the file
// from saying it is neither pass nor fail: Unknown.
func (p *fileProber) Probe(ctx context.Context) Result {
	tr := p.begin()
	said, f := p.ask(ctx, tr)
	if f != nil {
		return tr.end(f)
	}
	if said.line > 0 {
		tr.add("line", "%d: %s", said.line, plain(said.state))
	}
	switch {
	case said.line == 0:
		return tr.end(p.unknown("has no line for %s", p.target))
	case said.twice:
		return tr.end(p.unknown("says two things of %s", p.target))
	case said.state == "down":
		return tr.end(failed("%s says down", plain(p.opts.Path)))
	case said.state != "up":
		return tr.end(p.unknown("says %s, want up or down", quote(said.state)))
	}
	return tr.pass()
}

// unknown is a failure that begins with the name of the file. Its text must be
// the same as long as the cause is, since another one is logged again.
func (p *fileProber) unknown(format string, args ...any) *failure {
	f := failed("%s "+format, append([]any{plain(p.opts.Path)}, args...)...)
	f.outcome = Unknown
	return f
}

// ask reads within ctx, whatever the file system does.
func (p *fileProber) ask(ctx context.Context, tr *tracer) (said, *failure) {
	var line said
	var f *failure
	own := *tr // a reading that is given up has no part in the result
	if !p.opts.turns.do(ctx, func() { line, f = p.read(&own) }) {
		return said{}, p.unknown("cannot be read: no end in %s", p.timeout)
	}
	*tr = own
	return line, f
}

func (p *fileProber) read(tr *tracer) (line said, f *failure) {
	file, err := p.open(p.opts.Path)
	if err != nil {
		return line, p.unreadable(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return line, p.unreadable(err)
	}
	if f := p.usable(info); f != nil {
		return line, f
	}
	tr.add("file", "%d bytes, written %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339))
	line, err = p.opts.cache.lookup(file, info, p.target)
	if err != nil {
		return line, p.unreadable(err)
	}
	return line, nil
}

// usable refuses what is no file and what nobody keeps up to date. A time in
// the future is as bad as one in the past: such a file would never grow old.
func (p *fileProber) usable(info fs.FileInfo) *failure {
	age := time.Since(info.ModTime())
	switch limit := p.opts.MaxAge; {
	case !info.Mode().IsRegular():
		return p.unknown("is not a regular file")
	case limit > 0 && age > limit:
		return p.unknown("is older than %s", limit)
	case limit > 0 && age < -limit:
		return p.unknown("was written more than %s in the future", limit)
	}
	return nil
}

// unreadable words why the file cannot be read. That this process has run out of
// something says nothing about the file, not even that it is silent.
func (p *fileProber) unreadable(err error) *failure {
	var path *fs.PathError
	switch errnoOf(err) {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		_, text := blame(err, errnoOf(err))
		return fault("%s: %s", plain(p.opts.Path), text)
	}
	switch {
	case errors.Is(err, errTooLong):
		return p.unknown("is longer than 16 MiB")
	case errors.As(err, &path):
		err = path.Err
	}
	return p.unknown("cannot be read: %s", err)
}
