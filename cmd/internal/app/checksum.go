package app

import (
	"crypto/sha256"
	"io"
	"os"
	"time"
)

// checksum tells whether a zone's files hold what was loaded from them, so
// that a touched but equal file is not reported as changed.
type checksum [sha256.Size]byte

// sumOf reads the files. The zero checksum, which equals no other, stands for
// files that cannot be read or were written after since.
func sumOf(files []string, since time.Time) checksum {
	hash := sha256.New()
	for _, name := range files {
		if !addFile(hash, name, since) {
			return checksum{}
		}
	}
	return checksum(hash.Sum(nil))
}

// addFile feeds one file, its length first, to the hash.
func addFile(hash io.Writer, name string, since time.Time) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	n, err := io.Copy(hash, f)
	if err != nil {
		return false
	}
	if _, err := hash.Write([]byte{0, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}); err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && (since.IsZero() || !info.ModTime().After(since))
}
