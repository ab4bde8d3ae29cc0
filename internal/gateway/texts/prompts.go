package texts

import (
	"bytes"
	"crypto/sha256"
	"hash/maphash"
	"slices"
	"sync"

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

// buffers are those of strings that were decoded.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the length of a buffer that is kept.
const maxBuffer = 1 << 20

// Wrote takes the arguments of a released call. Of arguments that are not valid JSON, which are released
// in observe mode, it takes the strings before the mistake.
func (r *Report) Wrote(args []byte) {
	if r == nil {
		return
	}
	buffer := buffers.Get().(*[]byte)
	text := slices.Grow((*buffer)[:0], len(args))
	for at := bytes.IndexByte(args, '"'); at >= 0; at = bytes.IndexByte(args, '"') {
		var n int
		if text, n = jsonstream.AppendString(text[:0], args[at:]); n == 0 {
			break
		}
		args = args[at+n:]
		if key := bytes.TrimLeft(args, " \t\r\n"); len(text) >= minPrompt && (len(key) == 0 || key[0] != ':') {
			r.tracker.prompts.Put(r.tracker.prompt(r.Owner.Principal, text), struct{}{})
		}
	}
	if *buffer = text; cap(text) <= maxBuffer {
		buffers.Put(buffer)
	}
}

// IsPrompt reports whether a message in the role of the user repeats an argument of a released call.
func (r *Report) IsPrompt(text []byte) bool {
	_, ok := r.tracker.prompts.Get(r.tracker.prompt(r.Owner.Principal, text))
	return ok
}
