// Package pathkey brings paths into one form, so that session policies can compare them: a file
// that was read under one spelling is recognised when it is written under another.
package pathkey

import (
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
)

// Reader reads paths in an environment. The zero Reader has no directories and follows no links.
type Reader struct {
	Env condition.Env
}

// maxPlain is the maximum length of paths that are taken as written.
const maxPlain = 200

// Canonical returns the path relative to the root, or absolute. It returns false for a path that
// some tool could read as another one. If the gate follows symbolic links, it returns the path of
// the target (H12).
func (r Reader) Canonical(path string) (string, bool) {
	if r.Env.Dir == "" && r.Env.Links == nil && plainest(path) {
		return path, true
	}
	cleaned, ok := r.lexical(path)
	if !ok || r.Env.Links == nil {
		return cleaned, ok
	}
	written, from := path, cmp.Or(r.Env.Dir, r.Env.Root)
	if !strings.HasPrefix(written, "/") {
		if from == "" {
			return cleaned, true // its start is unknown
		}
		written = from + "/" + written
	}
	name := cleaned
	if !strings.HasPrefix(name, "/") {
		name = r.Env.Root + "/" + name
	}
	// After a link, tools differ on the directory that ".." names.
	real, ok := r.Env.Links.Real(written)
	same, known := r.Env.Links.Real(name)
	if !ok || !known || real != same {
		return "", false
	}
	return r.lexical(real)
}

// lexical is Canonical without access to the file system.
func (r Reader) lexical(path string) (string, bool) {
	env := r.Env
	env.Links = nil
	readings, complete := pathform.Readings(path, env, false)
	below := path
	for r.Env.Dir != "" && strings.HasPrefix(below, "../") { // the directories above are known
		below = below[len("../"):]
	}
	if _, plain := pathform.Clean(below); !plain || !complete || len(readings) == 0 || readings[0].Glob {
		return "", false
	}
	if strings.HasPrefix(readings[0].Path, "..") {
		return "", false
	}
	return readings[0].Path, true
}

// plainest reports whether a relative path is canonical as written and has only characters that all
// tools read in the same way, as almost every path does.
func plainest(path string) bool {
	last := byte('/')
	for i := range len(path) {
		c := path[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-' && last != '/':
		case c == '.' && i+1 < len(path) && path[i+1] != '.' && path[i+1] != '/' && last != '.':
		case c == '/' && last != '/' && i+1 < len(path):
		default:
			return false
		}
		last = c
	}
	return path != "" && len(path) <= maxPlain
}
