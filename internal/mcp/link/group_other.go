//go:build !unix

package link

import (
	"os/exec"
	"syscall"
)

// setProcessGroup has no effect: process groups are not available.
func setProcessGroup(*exec.Cmd) {}

// signalGroup kills the server process; there are no signals to send.
func signalGroup(cmd *exec.Cmd, _ syscall.Signal) { _ = cmd.Process.Kill() }
