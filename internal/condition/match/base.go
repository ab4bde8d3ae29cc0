package match

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// base is where command lines begin, as far as that is known.
type base struct {
	root string // of the project
	dir  string // where a line begins
	lost bool   // nobody knows where a line begins
}

func baseOf(env Env) base {
	env = env.ofCommands()
	b := base{root: env.Root, dir: cmp.Or(env.Dir, env.Root)}
	if env.lost || env.also != "" {
		b.dir, b.lost = "", true
	}
	return b
}

// names reports a word that is the root or the directory in which lines begin, written as
// an absolute path and with nothing to clean but a slash at its end.
func (b *base) names(w *shell.Word) bool {
	text := trimSlash(w.Text)
	return w.Literal && len(text) > 1 && (string(text) == b.root || string(text) == b.dir)
}

func trimSlash(path []byte) []byte {
	if n := len(path); n > 1 && path[n-1] == '/' {
		return path[:n-1]
	}
	return path
}

// begins reports a directory, as it is written, in which lines begin anyway.
func (b *base) begins(dir string) bool {
	return dir != "" && b.dir != "" && strings.TrimSuffix(dir, "/") == b.dir
}

// below reports a word that names a directory below the root, in its own words: a relative
// path that does not climb, or an absolute one. The shell looks for a relative one where the
// line is, unless somebody has set CDPATH.
func (b *base) below(w *shell.Word) bool {
	text := string(w.Text)
	if rest, absolute := strings.CutPrefix(text, b.root+"/"); absolute && b.root != "" {
		text = rest
	} else if b.lost || b.outside() || bytes.HasPrefix(w.Text, []byte("/")) {
		return false
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
	if !w.Literal || text == "" || strings.IndexByte("-+~", text[0]) >= 0 || len(text) > maxPath {
		return false
	}
	for c := range strings.SplitSeq(text, "/") {
		if c == "" || c == "." || c == ".." {
			return false
		}
	}
	return true
}

// settings are files and directories that programs obey, or run, in the directory in which they
// are started. A shell that stays there for later lines starts git there, and more.
var settings = []string{".git", "HEAD", ".cargo", "rust-toolchain", "rust-toolchain.toml", ".terraform", ".venv", "poetry.toml", "uv.toml", ".npmrc"}

// unsettled reports a directory below the root that has no settings of its own, nor has one
// between them. Where nobody looks at the disk it is true.
func (b *base) unsettled(links *Links, c *shell.Command, w *shell.Word) bool {
	if links == nil || links.Has == nil {
		return true
	}
	dir, known := b.entered(c, w)
	for ; known && len(dir) > max(1, len(b.root)); dir = path.Dir(dir) {
		for _, name := range settings {
			if links.Has(dir + "/" + name) {
				return false
			}
		}
	}
	return known
}

// entered returns the clean absolute path of a directory that a command changes to, if it is known.
func (b *base) entered(c *shell.Command, w *shell.Word) (dir string, known bool) {
	at, known := c.At(w.Text)
	dir = string(at)
	if !strings.HasPrefix(dir, "/") {
		known, dir = known && b.dir != "", b.dir+"/"+dir
	}
	return path.Clean(dir), known
}

// sameRepository reports that git finds the same repository in a directory below the root as in
// the root: the directory exists, no link leads to it, and no repository lies between them. It is
// false where nobody looks at the disk.
func (b *base) sameRepository(links *Links, c *shell.Command, w *shell.Word) bool {
	if links == nil || links.Has == nil || links.Real == nil || b.root == "" {
		return false
	}
	dir, known := b.entered(c, w)
	if !known || !links.Has(dir) || !b.unsettled(links, c, w) {
		return false
	}
	real, ok := links.Real(dir)
	return ok && real == dir
}

// outside reports that lines begin outside of the root.
func (b *base) outside() bool {
	if b.root == "" || b.dir == "" {
		return false
	}
	_, inside := cutRoot([]byte(b.dir), []byte(b.root))
	return !inside
}

// deeper reports that lines begin below the root, and not in it.
func (b *base) deeper() bool {
	rel, inside := cutRoot([]byte(b.dir), []byte(b.root))
	return inside && len(rel) > 0
}

// stays reports a command that works where the line begins: no change of directory stands
// before it, or only one that changes nothing (E22).
func (b *base) stays(c *shell.Command) bool { return !c.Moved || b.begins(c.Into) }

// from is what a path of a command means where the line begins, if that is certain:
// behind "cd DIR &&" a relative path begins in DIR.
func (b *base) from(path []byte, moved bool, into string, sure bool) (text []byte, certain bool) {
	switch {
	case !moved || len(path) > 0 && path[0] == '/' || b.begins(into):
		return path, true
	case !sure || len(path) > 0 && path[0] == '~':
		return path, false
	case len(path) == 0:
		return []byte(into), true
	}
	return bytes.Join([][]byte{[]byte(strings.TrimSuffix(into, "/")), path}, []byte("/")), true
}
