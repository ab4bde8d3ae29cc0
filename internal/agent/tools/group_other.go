//go:build !unix

package tools

import "os/exec"

// group does nothing: process groups are not available.
func group(*exec.Cmd) {}

func end(*exec.Cmd) error { return nil }
