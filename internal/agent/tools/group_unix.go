//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// group starts a command in its own process group, so that its descendants end with it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return end(cmd) }
}

// end kills the process group.
func end(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
