//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package admin

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockDir lets one gslbd at a time look at and replace sockets in a directory:
// of two that start at once, the second would remove what the first has just
// bound. It gives the way to unlock. A directory that cannot be opened is not
// locked; binding tells what is wrong with it.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}, nil
	}
	unlock = func() { _ = f.Close() } // which ends the lock
	tick := time.NewTicker(dialTimeout / 100)
	defer tick.Stop()
	for began := time.Now(); ; <-tick.C {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			return unlock, nil // locked, or the file system cannot
		}
		if time.Since(began) > 2*dialTimeout {
			unlock()
			return nil, fmt.Errorf("another program holds a lock on %s", dir)
		}
	}
}
