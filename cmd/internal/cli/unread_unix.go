//go:build unix

package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lookEvery is how often unread looks whether ctx has ended, in milliseconds.
const lookEvery = 500

// unread waits until the reader of out has gone, which a pipe tells without
// being written to, and reports that; or until ctx ends.
func unread(ctx context.Context, out io.Writer) (gone bool) {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	_ = conn.Control(func(fd uintptr) {
		for !gone && ctx.Err() == nil {
			fds := []unix.PollFd{{Fd: int32(fd)}}
			_, err := unix.Poll(fds, lookEvery)
			if err != nil && !errors.Is(err, unix.EINTR) || fds[0].Revents&unix.POLLNVAL != 0 {
				return
			}
			gone = fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		}
	})
	return gone
}
