package admin

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// dialTimeout bounds the question whether somebody answers on a socket.
const dialTimeout = time.Second

// listenUnix binds the socket with mode 0660. A socket file on which nobody
// answers is left over from a crash and is replaced; a live one, or a file
// that is no socket, is never touched. A missing last directory is made.
func listenUnix(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, socketError(path, err)
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return nil, socketError(path, err)
	}
	defer unlock()
	if err := clearStale(path); err != nil {
		return nil, err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, socketError(path, err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(socketError(path, err), ln.Close())
	}
	return ln, nil
}

// clearStale removes what a crashed server left at path.
func clearStale(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // nothing there, or listening will say what is wrong
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return &Error{
			Message: fmt.Sprintf("admin socket %s: a file that is not a socket is in the way", path),
			Hint:    "remove it, or set admin.socket to another path",
		}
	}
	conn, err := net.DialTimeout("unix", path, dialTimeout)
	switch {
	case err == nil:
		_ = conn.Close() // only asked whether somebody is there
		return &Error{
			Message: fmt.Sprintf("admin socket %s: another gslbd runs on it", path),
			Hint:    "stop that one, or set admin.socket to another path",
		}
	case !errors.Is(err, syscall.ECONNREFUSED):
		return socketError(path, err)
	}
	if err := os.Remove(path); err != nil {
		return socketError(path, err)
	}
	return nil
}

func socketError(path string, err error) error {
	hint := "set admin.socket to a path in a directory that gslbd may write to"
	if errors.Is(err, syscall.EINVAL) {
		hint = "set admin.socket to a path of at most 107 bytes" // sun_path, unix(7)
	}
	return &Error{Message: fmt.Sprintf("admin socket %s: %v", path, cause(err)), Hint: hint}
}

// cause strips what the message already says: operation, network and path.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
