package session

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition/pathkey"
	"github.com/stopgate/stopgate/jsonstream"
)

// PathReader brings paths into the form under which they are compared: relative to the
// root of the project, or absolute. It returns false for a path that tools could read in
// several ways; a call that names one has no key (H12).
type PathReader interface {
	Canonical(path string) (string, bool)
}

// keyer finds the key values of a call: what a keyed policy compares (TPS-18).
type keyer struct {
	pointers []jsonstream.Pointer // the first that is present counts (TPS-22)
	path     bool                 // values are paths, compared in canonical form (Q15, H12)
	value    bool                 // they are not, whatever a schema says
	paths    PathReader           // nil: by the letters of the path alone
}

// maxKeys bounds the values of one call.
const maxKeys = 64

// of returns the key values of a call; ok is false if it names none, or one that
// cannot be compared: null, an array, an object, a path that can be read in several
// ways (H8, H12).
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

// canonical returns the one form of a path under which it is compared, and false for a
// path that tools could read in several ways (H12).
func (k *keyer) canonical(path string) (string, bool) {
	if k.paths == nil {
		return pathkey.Reader{}.Canonical(path)
	}
	return k.paths.Canonical(path)
}

// needsArgs reports whether the key values come from the arguments.
func (k *keyer) needsArgs() bool { return len(k.pointers) > 0 }
