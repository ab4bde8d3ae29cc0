package openaichat

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// extra holds the unknown members of one entry as they are written, each preceded by a
// comma. Servers use them for data that they expect in the next turn, so they are written
// with the call if it is allowed (L2).
type extra struct{ entry, function []byte }

// entryNames are the members from which a client reads a call. A lookalike of one of them
// is never forwarded.
var entryNames = []string{"index", "id", "type", "function", "custom", "name", "arguments", "input"}

// addExtra stores the unknown members of an element of tool_calls, once each.
func (a *assembly) addExtra(c *choice, k *call, t *entry) {
	inner := t.function
	if t.custom.IsValid() {
		inner = t.custom
	}
	e := extra{entry: unknown(nil, k, t.whole), function: unknown(nil, k, inner)}
	if n := len(e.entry) + len(e.function); n > 0 && a.reserve(c, k, n) {
		k.extras = append(k.extras, e)
	}
}

func unknown(dst []byte, k *call, object jsonstream.Value) []byte {
	for name, v := range object.Members() {
		switch string(provider.Key(name)) {
		case "index", "id", "type", "function", "custom", "name", "arguments", "input":
			continue
		}
		if !provider.Present(v) || provider.IsLookalike(provider.Key(name), entryNames...) {
			continue
		}
		at := len(dst)
		dst = append(dst, ',')
		dst = append(append(dst, name.Raw()...), ':')
		dst = append(dst, v.Raw()...)
		if k.hasExtra(dst[at:]) {
			dst = dst[:at]
		}
	}
	return dst
}

// hasExtra reports whether a member is stored already; many servers repeat them.
func (k *call) hasExtra(member []byte) bool {
	for _, e := range k.extras {
		if bytes.Contains(e.entry, member) || bytes.Contains(e.function, member) {
			return true
		}
	}
	return false
}
