package texts

import (
	"bytes"
	"crypto/sha256"
	"hash/maphash"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// A client may start a sub-agent with the argument of a call as its prompt: a conversation whose first
// message is in the role of the user, and which a model wrote. The tracker knows the long strings in
// the arguments of recently released calls of each principal, by their hashes.

// minPrompt is the length of the shortest argument that can be a prompt.
const minPrompt = 12

// prompt is a string that a model wrote for a principal, by a hash with a key of this process. One
// that has the hash of another is taken for it, which is the strict side.
type prompt struct {
	principal stopgate.Principal
	hash      uint64
}

func (k *Tracker) prompt(p stopgate.Principal, text []byte) prompt {
	return prompt{p, maphash.Bytes(k.seed, bytes.TrimSpace(text))}
}

// written is the id of a message that a model wrote for a principal.
type written struct {
	principal stopgate.Principal
	text      Key
}

func writtenKey(p stopgate.Principal, text []byte) written {
	sum := sha256.Sum256(bytes.TrimSpace(text))
	return written{p, Key(sum[:len(Key{})])}
}

// Wrote takes the arguments of a released call.
func (r *Report) Wrote(args []byte) {
	if r == nil {
		return
	}
	v, err := jsonstream.Parse(args, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err == nil {
		r.wrote(v)
	}
}

func (r *Report) wrote(v jsonstream.Value) {
	switch v.Kind() {
	case jsonstream.String:
		if text := v.AppendText(nil); len(text) >= minPrompt {
			r.tracker.prompts.Put(r.tracker.prompt(r.Owner.Principal, text), struct{}{})
		}
	case jsonstream.Array:
		for element := range v.Elements() {
			r.wrote(element)
		}
	case jsonstream.Object:
		for _, member := range v.Members() {
			r.wrote(member)
		}
	}
}

// IsPrompt reports whether a message in the role of the user repeats an argument of a released call.
func (r *Report) IsPrompt(text []byte) bool {
	_, ok := r.tracker.prompts.Get(r.tracker.prompt(r.Owner.Principal, text))
	return ok
}
