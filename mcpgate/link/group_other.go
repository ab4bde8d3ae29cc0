//go:build !unix

package link

import (
	"os/exec"
	"syscall"
)

// group leaves a server as it is: it ends alone.
func group(*exec.Cmd) {}

// signalGroup ends the server: it hears no signal that it could answer.
func signalGroup(cmd *exec.Cmd, _ syscall.Signal) { _ = cmd.Process.Kill() }
