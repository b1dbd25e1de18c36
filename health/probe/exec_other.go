//go:build !unix

package probe

import "os/exec"

// separate does nothing where there are no process groups: at the timeout the
// command alone is killed.
func separate(*exec.Cmd) {}

func killGroup(*exec.Cmd) error { return nil }
