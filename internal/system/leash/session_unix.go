//go:build unix

package leash

import "syscall"

// apart lets the shell outlive what ends this process's session.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
