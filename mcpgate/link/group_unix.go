//go:build unix

package link

import (
	"os/exec"
	"syscall"
)

// group gives a server a process group, so that all it started ends with it.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup reaches the whole process group.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, s) }
