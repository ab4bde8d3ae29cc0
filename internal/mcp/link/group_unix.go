//go:build unix

package link

import (
	"os/exec"
	"syscall"
)

// setProcessGroup starts the server in a process group of its own, so that its descendants
// end with it.
func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to the process group of the server.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, s) }
