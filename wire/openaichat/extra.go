package openaichat

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// extra holds the unknown members of one entry as they were written, each led by
// a comma. Servers put things into them that they want back on the next turn, so
// they are written with the call when it is allowed (L2).
type extra struct{ entry, function []byte }

// entryNames are the members that a client reads a call from. A name that only
// folds to one of them is never passed on.
var entryNames = []string{"index", "id", "type", "function", "custom", "name", "arguments", "input"}

// keepExtra keeps the unknown members of an element of tool_calls, once each.
func (a *assembly) keepExtra(c *choice, k *call, t *entry) {
	inner := t.function
	if t.custom.IsValid() {
		inner = t.custom
	}
	e := extra{entry: unknown(nil, k, t.whole), function: unknown(nil, k, inner)}
	if n := len(e.entry) + len(e.function); n > 0 && a.hold(c, k, n) {
		k.extras = append(k.extras, e)
	}
}

func unknown(dst []byte, k *call, object jsonstream.Value) []byte {
	for name, v := range object.Members() {
		switch string(wire.Key(name)) {
		case "index", "id", "type", "function", "custom", "name", "arguments", "input":
			continue
		}
		if !wire.Present(v) || wire.Lookalike(wire.Key(name), entryNames...) {
			continue
		}
		at := len(dst)
		dst = append(dst, ',')
		dst = append(append(dst, name.Raw()...), ':')
		dst = append(dst, v.Raw()...)
		if k.keeps(dst[at:]) {
			dst = dst[:at]
		}
	}
	return dst
}

// keeps reports whether a member is kept already; many servers repeat them.
func (k *call) keeps(member []byte) bool {
	for _, e := range k.extras {
		if bytes.Contains(e.entry, member) || bytes.Contains(e.function, member) {
			return true
		}
	}
	return false
}
