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

// prompt returns the prompt of a text without space around it, as [jsonstream.AppendQuote] writes it
// between the quotes: a released argument is hashed as it is written.
func (k *Tracker) prompt(p stopgate.Principal, encoded []byte) prompt {
	return prompt{p, maphash.Bytes(k.seed, encoded)}
}

// encode returns a text in this form.
func encode(text []byte) []byte {
	quoted := jsonstream.AppendQuote(make([]byte, 0, len(text)+len(text)/8+16), bytes.TrimSpace(text))
	return quoted[1 : len(quoted)-1]
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

// Wrote takes the arguments of a released call. Of arguments that are not valid JSON, which are released
// in observe mode, it may take more than their strings.
func (r *Report) Wrote(args []byte) {
	if r == nil {
		return
	}
	for at := bytes.IndexByte(args, '"'); at >= 0; at = bytes.IndexByte(args, '"') {
		text := args[at:]
		end := stringEnd(text)
		if end < 0 {
			return
		}
		args = text[end:]
		if key := bytes.TrimLeft(args, " \t\r\n"); end-2 < minPrompt || len(key) > 0 && key[0] == ':' {
			continue
		}
		if encoded, ok := encodedPrompt(text[:end]); ok {
			r.tracker.prompts.Put(r.tracker.prompt(r.Owner.Principal, encoded), struct{}{})
		}
	}
}

// stringEnd returns the length of the JSON string at the start of text, -1 if it has no end.
func stringEnd(text []byte) int {
	for end := 1; ; {
		n := bytes.IndexByte(text[end:], '"')
		if n < 0 {
			return -1
		}
		end += n + 1
		backslashes := 0
		for text[end-2-backslashes] == '\\' { // not beyond the first quote
			backslashes++
		}
		if backslashes%2 == 0 {
			return end
		}
	}
}

// encodedPrompt returns the form of a JSON string that is hashed, unless it is too short for a prompt.
func encodedPrompt(quoted []byte) (encoded []byte, ok bool) {
	inside := quoted[1 : len(quoted)-1]
	if len(inside) >= 2*minPrompt && !bytes.Contains(inside, []byte(`\u`)) && !bytes.Contains(inside, []byte(`\/`)) {
		return trimEncoded(inside), true // there is one way to write every other escape
	}
	text, n := jsonstream.AppendString(nil, quoted)
	if n == 0 || len(text) < minPrompt {
		return nil, false
	}
	return encode(text), true
}

// trimEncoded trims the space around a text that has only escapes of one letter.
func trimEncoded(inside []byte) []byte {
	for {
		inside = bytes.TrimSpace(inside)
		if len(inside) < 2 || inside[0] != '\\' || !isSpaceEscape(inside[1]) {
			break
		}
		inside = inside[2:]
	}
	for {
		inside = bytes.TrimSpace(inside)
		end := len(inside)
		if end < 2 || !isSpaceEscape(inside[end-1]) {
			return inside
		}
		escape := bytes.TrimRight(inside[:end-1], `\`)
		if (end-1-len(escape))%2 == 0 { // the letter itself
			return inside
		}
		inside = inside[:end-2]
	}
}

// isSpaceEscape reports whether an escape with this letter is a space.
func isSpaceEscape(letter byte) bool { return bytes.IndexByte([]byte("nrtf"), letter) >= 0 }

// IsPrompt reports whether a message in the role of the user repeats an argument of a released call.
func (r *Report) IsPrompt(text []byte) bool {
	_, ok := r.tracker.prompts.Get(r.tracker.prompt(r.Owner.Principal, encode(text)))
	return ok
}
