package zone

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// opener is where a file is found: the operating system for a zone file, its
// directory alone (an os.Root) for those that it includes.
type opener interface {
	Stat(name string) (fs.FileInfo, error)
	Open(name string) (*os.File, error)
}

type anywhere struct{}

func (anywhere) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }
func (anywhere) Open(name string) (*os.File, error)    { return os.Open(name) }

// readFile reads a whole regular file. It looks before it opens, since opening
// a FIFO may wait for ever.
func readFile(from opener, name string) ([]byte, fs.FileInfo, *fault) {
	info, err := from.Stat(name)
	if err != nil {
		return nil, nil, cannotRead(err)
	}
	if info.IsDir() {
		return nil, nil, &fault{"is a directory, not a zone file", "name the file inside it"}
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fault{"is not a regular file", "a zone is read from a plain file only, not from a device, pipe or socket"}
	}
	f, err := from.Open(name)
	if err != nil {
		return nil, nil, cannotRead(err)
	}
	defer f.Close()
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(pieces{f}); err != nil {
		return nil, nil, cannotRead(err)
	}
	return buf.Bytes(), info, nil
}

// pieces reads no more than 64 KiB at once: some kernels let nobody else have the
// core during a call, and a large file takes them tens of milliseconds.
type pieces struct{ io.Reader }

func (r pieces) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 64<<10)]) }

// cannotRead says why a file could not be read.
func cannotRead(err error) *fault {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	f := &fault{"cannot be read: " + err.Error(), ""}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.hint = "create the file or correct its name"
	case errors.Is(err, fs.ErrPermission):
		f.hint = "let user " + strconv.Itoa(os.Getuid()) + " read the file and enter its directories"
	}
	return f
}

// notText finds what makes a file no zone file at all, and its line.
func notText(data []byte) (int, *fault) {
	for _, bom := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(data, []byte(bom)) {
			return 1, &fault{"file begins with a byte order mark", "save it as UTF-8 (or plain ASCII) without one"}
		}
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return 1 + bytes.Count(data[:i], []byte{'\n'}), &fault{"line holds a NUL octet: this is not a text file", "name the zone file in text form (RFC 1035), not a database or compiled file"}
	}
	return 0, nil
}
