package match

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/internal/shell"
)

// base is where command lines begin, as far as that is known.
type base struct {
	root string // of the project
	dir  string // where a line begins
}

func baseOf(env Env) base {
	env = env.ofCommands()
	b := base{root: env.Root, dir: cmp.Or(env.Dir, env.Root)}
	if env.lost || env.also != "" {
		b.dir = ""
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

// below reports that lines begin below the root, and not in it.
func (b *base) below() bool {
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
