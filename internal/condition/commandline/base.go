package commandline

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/shell"
)

// base is where command lines begin, as far as it is known.
type base struct {
	root string // of the project
	dir  string // where a line begins
	lost bool   // the start of a line is unknown
}

func baseOf(env condition.Env) base {
	env = pathform.CommandEnv(env)
	b := base{root: env.Root, dir: cmp.Or(env.Dir, env.Root)}
	if env.Lost || env.Also != "" {
		b.dir, b.lost = "", true
	}
	return b
}

// Names reports whether a word is the root or the directory in which lines begin, as an absolute
// path in canonical form, with an optional slash at its end, or the root as "cd .." reaches it.
func (b *base) Names(c *shell.Command, w *shell.Word) bool {
	if dir, inside := b.climbs(c, w); inside && dir == b.root {
		return true
	}
	text := trimSlash(w.Text)
	return w.Literal && len(text) > 1 && (string(text) == b.root || string(text) == b.dir)
}

func trimSlash(path []byte) []byte {
	if n := len(path); n > 1 && path[n-1] == '/' {
		return path[:n-1]
	}
	return path
}

// begins reports whether a directory, as written, is the one in which lines begin.
func (b *base) begins(dir string) bool {
	return dir != "" && b.dir != "" && strings.TrimSuffix(dir, "/") == b.dir
}

// below reports whether a word names a directory below the root lexically: a relative path that
// does not climb, or stays there, or an absolute one. The shell resolves a relative one against the current
// directory, unless CDPATH is set.
func (b *base) below(c *shell.Command, w *shell.Word) bool {
	if _, inside := b.climbs(c, w); inside {
		return true
	}
	text := string(w.Text)
	if rest, absolute := strings.CutPrefix(text, b.root+"/"); absolute && b.root != "" {
		text = rest
	} else if b.lost || b.outside() || bytes.HasPrefix(w.Text, []byte("/")) {
		return false
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
	if !w.Literal || text == "" || strings.IndexByte("-+~", text[0]) >= 0 || len(text) > pathform.MaxPath {
		return false
	}
	for c := range strings.SplitSeq(text, "/") {
		if c == "" || c == "." || c == ".." {
			return false
		}
	}
	return true
}

// climbs returns the directory to which a "cd" with ".." in its word leads, if it is the root or below
// it, and no directory on the way there is above it. For each ".." the shell removes a name, of a link
// or not, from the directory that it works in. It began in b.dir, unless it was started there under
// another name of that directory.
func (b *base) climbs(c *shell.Command, w *shell.Word) (dir string, inside bool) {
	text := string(w.Text)
	if b.lost || b.root == "" || b.dir == "" || !c.Located || !w.Literal || len(c.Words) != 2 || string(c.Words[0].Text) != "cd" ||
		len(text) > pathform.MaxPath || !slices.Contains(strings.Split(text, "/"), "..") || strings.IndexByte("-+~/", text[0]) >= 0 {
		return "", false
	}
	dir, inside = b.entered(c, &shell.Word{})
	for name := range strings.SplitSeq(text, "/") {
		if !inside {
			return "", false
		}
		dir = path.Join(dir, name)
		_, inside = pathform.CutRoot([]byte(dir), []byte(b.root))
	}
	return dir, inside
}

// settings are files and directories that programs obey, or run, in the directory in which they are
// started. A shell that stays there starts git and other programs there for later lines.
var settings = []string{".git", "HEAD", ".cargo", "rust-toolchain", "rust-toolchain.toml", ".terraform", ".venv", "poetry.toml", "uv.toml", ".npmrc"}

// unsettled reports whether a directory below the root, and every directory between them, has no
// settings of its own. Without access to the disk it returns true.
func (b *base) unsettled(links *condition.Links, c *shell.Command, w *shell.Word) bool {
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

// sameRepository reports whether git finds the same repository in a directory below the root as in
// the root: the directory exists, no link leads to it, and no repository is between them. Without
// access to the disk it returns false.
func (b *base) sameRepository(links *condition.Links, c *shell.Command, w *shell.Word) bool {
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

// outside reports whether lines begin outside of the root.
func (b *base) outside() bool {
	if b.root == "" || b.dir == "" {
		return false
	}
	_, inside := pathform.CutRoot([]byte(b.dir), []byte(b.root))
	return !inside
}

// deeper reports whether lines begin below the root, and not in it.
func (b *base) deeper() bool {
	rel, inside := pathform.CutRoot([]byte(b.dir), []byte(b.root))
	return inside && len(rel) > 0
}

// stays reports whether a command works where the line begins: no change of directory precedes it,
// or only one without effect (E22).
func (b *base) stays(c *shell.Command) bool { return !c.Moved || b.begins(c.Into) }

// from returns a path of a command relative to where the line begins, if that is certain: after "cd
// DIR &&" a relative path begins in DIR.
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
