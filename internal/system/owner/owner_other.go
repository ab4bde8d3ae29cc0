//go:build !unix

package owner

import "io/fs"

// Mine returns false: unknown on this system.
func Mine(fs.FileInfo) bool { return false }

func foreign(fs.FileInfo) bool   { return false }
func everybody(fs.FileInfo) bool { return false }
func others(fs.FileInfo) bool    { return false }
func whose(fs.FileInfo) string   { return "unknown" }
func root() bool                 { return false }
