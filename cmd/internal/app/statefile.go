package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gslbd/health"
)

const (
	stateName    = "state.json"
	stateVersion = 1
	sumFormat    = "%08x\n"  // CRC-32 of the line before
	maxState     = 256 << 20 // bytes; 100,000 groups of three members take 100 MiB
)

// errShared says that two servers were given one directory.
var errShared = errors.New("another gslbd keeps its state there")

// stateDir is a directory in which states are kept over a restart. It is locked
// as long as it is open, so that two servers cannot take turns in one file.
type stateDir struct {
	path string
	lock *os.File
}

// document is what the file holds.
type document struct {
	Version int       `json:"version"`
	Time    time.Time `json:"saved"`
	health.Saved
}

// openStateDir makes the directory if it is missing, locks it and makes sure
// that files can be written there.
func openStateDir(path string) (*stateDir, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, "state.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	d := &stateDir{path, lock}
	if err := lockFile(lock); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f, err := d.create()
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return d, errors.Join(f.Close(), os.Remove(f.Name()))
}

// close gives the lock free.
func (d *stateDir) close() error { return d.lock.Close() }

func (d *stateDir) file() string { return filepath.Join(d.path, stateName) }

// create begins the file that will take the place of the present one. What a
// crash left of an earlier attempt goes first.
func (d *stateDir) create() (*os.File, error) {
	name := d.file() + ".new"
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// encode writes a document as one line, and another with the checksum of that
// line: a bit that turned could make of a dead member one that nobody knows.
func encode(w io.Writer, doc document) error {
	sum := crc32.NewIEEE()
	if err := json.NewEncoder(io.MultiWriter(w, sum)).Encode(doc); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, sumFormat, sum.Sum32())
	return err
}

// decode reads what encode wrote.
func decode(text []byte) (*document, error) {
	line, sum, _ := bytes.Cut(text, []byte("\n"))
	var doc document
	if err := json.Unmarshal(line, &doc); err != nil {
		return nil, err
	}
	if doc.Version != stateVersion {
		return nil, fmt.Errorf("version %d where %d is known", doc.Version, stateVersion)
	}
	if string(sum) != fmt.Sprintf(sumFormat, crc32.ChecksumIEEE(text[:len(text)-len(sum)])) {
		return nil, errors.New("its checksum is wrong")
	}
	return &doc, nil
}

// write replaces the file: readers see the old one or the new one, whole, even
// after a loss of power.
func (d *stateDir) write(doc document) error {
	f, err := d.create()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	err = encode(out, doc)
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), d.file()); err != nil {
		return err
	}
	return d.sync()
}

// sync makes a rename in the directory last.
func (d *stateDir) sync() error {
	dir, err := os.Open(d.path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// damaged is an error about what a state file holds.
type damaged struct{ error }

// read gives what the file holds, nil if there is none. The error is damaged for
// a file that no gslbd of this version wrote.
func (d *stateDir) read() (*document, error) {
	info, err := os.Lstat(d.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, damaged{errors.New("is not a regular file")}
	case info.Size() > maxState:
		return nil, damaged{fmt.Errorf("is larger than %d MiB", maxState>>20)}
	}
	text, err := os.ReadFile(d.file())
	if err != nil {
		return nil, err
	}
	doc, err := decode(text)
	if err != nil {
		return nil, damaged{err}
	}
	return doc, nil
}

// setAside renames the file, so that it can be looked at and is not read again.
// One set aside earlier is replaced.
func (d *stateDir) setAside() (name string, err error) {
	name = d.file() + ".damaged"
	if err := os.RemoveAll(name); err != nil {
		return "", err
	}
	return name, os.Rename(d.file(), name)
}
