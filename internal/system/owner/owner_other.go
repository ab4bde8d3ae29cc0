//go:build !unix

package owner

import "io/fs"

// OwnedByUser returns false: unknown on this system.
func OwnedByUser(fs.FileInfo) bool { return false }

func ownedByOther(fs.FileInfo) bool     { return false }
func writableByAll(fs.FileInfo) bool    { return false }
func writableByOthers(fs.FileInfo) bool { return false }
func describe(fs.FileInfo) string       { return "unknown" }
func root() bool                        { return false }
