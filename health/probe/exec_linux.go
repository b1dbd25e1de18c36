package probe

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// finish waits for the end of cmd and kills what it left behind. It does so while
// the number of the process is still taken: later the group could be another one
// that was given the number since.
func finish(cmd *exec.Cmd) error {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	_ = killGroup(cmd)
	return cmd.Wait()
}
