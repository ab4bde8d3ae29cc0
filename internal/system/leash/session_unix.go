//go:build unix

package leash

import "syscall"

// newSession lets the shell outlive a signal to this process's session.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
