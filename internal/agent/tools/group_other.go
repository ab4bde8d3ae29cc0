//go:build !unix

package tools

import "os/exec"

// group has no effect: process groups are not available.
func group(*exec.Cmd) {}

func end(*exec.Cmd) error { return nil }
