//go:build !unix

package leash

import "syscall"

// apart is nothing here: there is no shell to start either.
func apart() *syscall.SysProcAttr { return nil }
