package session

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
)

// keyer finds the key values of a call: what a keyed policy compares (TPS-18).
type keyer struct {
	pointers []jsonstream.Pointer // the first that is present counts (TPS-22)
	path     bool                 // values are paths, compared in canonical form (Q15, THREATS H12)
	value    bool                 // they are not, whatever a schema says
	env      match.Env
}

// maxKeys bounds the values of one call.
const maxKeys = 64

// of returns the key values of a call; ok is false if it names none, or one that
// cannot be compared: null, an array, an object, a path that can be read in several
// ways (THREATS H8, H12).
func (k *keyer) of(c *Call) (values []string, ok bool) {
	if r := c.read; r != nil {
		for i := range r.n {
			if f := &r.found[i]; f.by == k {
				return f.values, f.ok
			}
		}
	}
	return k.look(nil, c)
}

// look is of by looking at the arguments; room is for the values.
func (k *keyer) look(room []string, c *Call) (values []string, ok bool) {
	for _, p := range k.pointers {
		var one [1]jsonstream.Value
		leaves, complete := one[:0], true
		if len(p) == 1 && c.Args.Kind() == jsonstream.Object {
			if v, ok := c.Args.Get(p[0]); ok {
				leaves = append(leaves, v)
			}
		} else if leaves, complete = p.All(nil, c.Args); !complete {
			return nil, false
		}
		found, ok := k.texts(room, leaves, k.path || !k.value && c.Paths != nil && c.Paths(p))
		switch {
		case !ok:
			return nil, false
		case len(found) == 0:
			continue
		case values != nil && !slices.Equal(values, found):
			return nil, false // two names for the target, and they differ
		}
		values, room = found, nil
	}
	return values, len(values) > 0
}

// texts appends the values of leaves, each once. What stands behind the values is of
// another call: a text that comes again is not made again.
func (k *keyer) texts(values []string, leaves []jsonstream.Value, path bool) (_ []string, ok bool) {
	for _, leaf := range leaves {
		known := ""
		if n := len(values); n < cap(values) {
			known = values[:n+1][n]
		}
		text, ok := k.text(leaf, path, known)
		if !ok || len(values) == maxKeys {
			return nil, false
		}
		if !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return values, true
}

func (k *keyer) text(v jsonstream.Value, path bool, known string) (string, bool) {
	switch v.Kind() {
	case jsonstream.String:
		if path {
			if !v.IsText(known) {
				known = v.Text()
			}
			return k.canonical(known)
		}
		return string(jsonstream.AppendCanonical(nil, v)), true
	case jsonstream.Number, jsonstream.True, jsonstream.False:
		if path {
			return "", false
		}
		return string(jsonstream.AppendCanonical(nil, v)), true
	}
	return "", false
}

// canonical is the one reading of a path: relative to the root, or absolute. A path
// that some tool could read as another one has none. Where the gate follows links it is
// the file behind them that is read and written (THREATS H12).
func (k *keyer) canonical(path string) (string, bool) {
	if k.env.Dir == "" && k.env.Links == nil && plainest(path) {
		return path, true
	}
	cleaned, ok := k.lexical(path)
	if !ok || k.env.Links == nil {
		return cleaned, ok
	}
	written, from := path, cmp.Or(k.env.Dir, k.env.Root)
	if !strings.HasPrefix(written, "/") {
		if from == "" {
			return cleaned, true // nobody knows where it begins
		}
		written = from + "/" + written
	}
	name := cleaned
	if !strings.HasPrefix(name, "/") {
		name = k.env.Root + "/" + name
	}
	// Behind a link ".." is not the directory before it for everybody.
	real, ok := k.env.Links.Real(written)
	same, known := k.env.Links.Real(name)
	if !ok || !known || real != same {
		return "", false
	}
	return k.lexical(real)
}

// lexical is canonical by the letters of the path alone.
func (k *keyer) lexical(path string) (string, bool) {
	env := k.env
	env.Links = nil
	readings, complete := match.Readings(path, env, false)
	below := path
	for k.env.Dir != "" && strings.HasPrefix(below, "../") { // it is known what is above
		below = below[len("../"):]
	}
	if _, plain := match.Clean(below); !plain || !complete || len(readings) == 0 || readings[0].Glob {
		return "", false
	}
	if strings.HasPrefix(readings[0].Path, "..") {
		return "", false
	}
	return readings[0].Path, true
}

// plainest reports that a relative path has letters that nobody reads in two ways,
// and is canonical as it stands: what almost every path is.
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
	return path != "" && len(path) <= maxValue
}

// needsArgs reports whether the key values come from the arguments.
func (k *keyer) needsArgs() bool { return len(k.pointers) > 0 }
