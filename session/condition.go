package session

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/schema"
)

// When is a condition over the session's data, in the same language as those over
// arguments (DESIGN 3).
type When struct {
	pointer jsonstream.Pointer
	test    *match.Matcher
	spec    match.Spec
}

// NewWhen compiles a condition. What gates a policy that restricts is in doubt
// held to be met.
func NewWhen(pointer jsonstream.Pointer, spec match.Spec, env match.Env) (When, error) {
	m, err := match.Compile(spec, match.Target{}, true, env)
	if err != nil {
		return When{}, err
	}
	return When{pointer: pointer, test: m, spec: spec}, nil
}

// Holds reports whether the data fits. A value that is missing fits only
// `present = false`; of several values one that fits is enough.
func (w When) Holds(data jsonstream.Value) bool {
	leaves, _ := find(nil, data, w.pointer)
	if w.spec.Kind == match.Present {
		present := false
		for _, v := range leaves {
			present = present || v.Kind() != jsonstream.Null
		}
		return present == w.test.WantsPresent()
	}
	for _, v := range leaves {
		if w.fits(v) {
			return true
		}
	}
	return false
}

func (w When) fits(v jsonstream.Value) bool {
	kinds := w.test.Fits()
	switch v.Kind() {
	case jsonstream.String:
		return kinds&schema.String != 0 && w.test.Whole([]byte(v.Text()))
	case jsonstream.Number:
		d, ok := v.Decimal()
		return kinds&schema.Number != 0 && ok && w.test.Number(d)
	case jsonstream.True, jsonstream.False:
		return kinds&schema.Boolean != 0 && w.test.Bool(v.Kind() == jsonstream.True)
	case jsonstream.Array:
		if k := w.spec.Kind; k == match.MinItems || k == match.MaxItems {
			return w.test.Items(v.Len())
		}
		for element := range v.Elements() {
			if w.fits(element) {
				return true
			}
		}
	}
	return kinds&(schema.Array|schema.Object) != 0 && w.test.Canonical(jsonstream.AppendCanonical(nil, v))
}
