//go:build !linux

package probe

import "os/exec"

// finish waits for the end of cmd and of its output, and kills what it left
// behind.
func finish(cmd *exec.Cmd) error {
	err := cmd.Wait()
	_ = killGroup(cmd)
	return err
}
