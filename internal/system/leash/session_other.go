//go:build !unix

package leash

import "syscall"

// newSession returns nil: there is no shell to start either.
func newSession() *syscall.SysProcAttr { return nil }
