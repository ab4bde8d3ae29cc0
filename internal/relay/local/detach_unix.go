//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// detach gives the process a session of its own, so that no signal of a terminal reaches it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
