//go:build unix && !solaris && !illumos && !aix

package app

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes a lock that ends with the process, or says who has it.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errShared
	}
	return err
}
