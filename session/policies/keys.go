package policies

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/pathkey"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// PathReader brings paths into the form under which they are compared: relative to the
// root of the project, or absolute. It returns false for a path that tools could read in
// several ways; a call that names one has no key (H12).
type PathReader interface {
	Canonical(path string) (string, bool)
}

// keys finds the key values of a call: the targets that a keyed policy compares (TPS-18).
type keys struct {
	pointers []jsonstream.Pointer // the first that is present counts (TPS-22)
	path     bool                 // values are paths, compared in canonical form (Q15, H12)
	literal  bool                 // values are compared as they are written, also where a schema calls them paths
	paths    PathReader           // nil: by the text of the path alone
}

// maxKeys bounds the values of one call.
const maxKeys = 64

// add adds pointers; the error is that of the first invalid one, or err.
func (k *keys) add(err error, pointers []string) error {
	for _, text := range pointers {
		p, bad := jsonstream.ParsePointer(text)
		if bad != nil {
			return bad
		}
		k.pointers = append(k.pointers, p)
	}
	return err
}

// used reports whether the policy is keyed.
func (k *keys) used() bool { return len(k.pointers) > 0 }

// label names the pointers, for texts and the names of cells.
func (k *keys) label() string {
	var texts []string
	for _, p := range k.pointers {
		texts = append(texts, p.String())
	}
	label := strings.Join(texts, " ")
	if k.path {
		label = "path " + label
	}
	return label
}

// values returns the key values of a call. ok is false if it has none, or one that cannot
// be compared: null, an array, an object, a path with several readings, or two pointers
// with different values (H8, H12).
func (k *keys) values(c *session.Call) (values []string, ok bool) {
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
		found, ok := k.texts(leaves, k.path || !k.literal && c.Paths != nil && c.Paths(p))
		switch {
		case !ok:
			return nil, false
		case len(found) == 0:
			continue
		case values != nil && !slices.Equal(values, found):
			return nil, false // two pointers name different targets
		}
		values = found
	}
	return values, len(values) > 0
}

// noValue are the values of a policy without key.
var noValue = []string{""}

// texts returns the texts of leaves, each once.
func (k *keys) texts(leaves []jsonstream.Value, path bool) (values []string, ok bool) {
	for _, leaf := range leaves {
		text, ok := k.text(leaf, path)
		if !ok || len(values) == maxKeys {
			return nil, false
		}
		if !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return values, true
}

func (k *keys) text(v jsonstream.Value, path bool) (string, bool) {
	switch v.Kind() {
	case jsonstream.String:
		if path {
			return k.canonical(v.Text())
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

func (k *keys) canonical(path string) (string, bool) {
	if k.paths == nil {
		return pathkey.Reader{}.Canonical(path)
	}
	return k.paths.Canonical(path)
}

// watched returns the pointers of top-level members: a policy that denies calls without
// a key can deny as soon as one of them is complete (S8).
func (k *keys) watched() []jsonstream.Pointer {
	return slices.DeleteFunc(slices.Clone(k.pointers), func(p jsonstream.Pointer) bool { return len(p) != 1 || p[0] == "*" })
}
