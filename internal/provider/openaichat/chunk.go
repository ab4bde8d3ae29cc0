package openaichat

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// chunk is the parsed payload of one event.
type chunk struct {
	root     jsonstream.Value
	choices  jsonstream.Value
	fault    jsonstream.Value // the error member, if present
	usage    bool
	elements []element // reused
	padding  jsonstream.Value
}

// element is one choices[] of a chunk.
type element struct {
	v        jsonstream.Value
	delta    jsonstream.Value
	calls    jsonstream.Value // delta.tool_calls
	legacy   jsonstream.Value // delta.function_call
	reason   jsonstream.Value // finish_reason, if it is set
	logprobs jsonstream.Value
	choice   *choice

	afterEnd       bool // the choice had calls and has ended
	endsCalls      bool // this is the finish of a choice with calls
	noNews         bool // except for calls, its delta has no new content for the client
	onlyCalls      bool // it contains only calls, and possibly a role
	contentWritten bool // its content was written before its finish
	hasCopy        bool // a second copy of its calls is where no client reads them
}

// strayCopy reports whether there are calls only where no client should read them: they are
// not a copy, and no codec evaluates them.
func (e *element) strayCopy() bool { return e.hasCopy && len(e.choice.calls) == 0 }

// hasCalls reports whether the element contains call data.
func (e *element) hasCalls() bool { return e.calls.IsValid() || e.legacy.IsValid() }

// The members whose names matter on each level. Some clients would read a lookalike of such
// a name and others would not, so it makes the response malformed. A call where none
// belongs does so too (L14): a client could find it there, and it was not evaluated.
var (
	rootNames   = []string{"choices", "error", "tool_calls", "function_call"}
	choiceNames = []string{"index", "delta", "message", "finish_reason", "tool_calls", "function_call"}
	deltaNames  = []string{"role", "content", "tool_calls", "function_call"}
)

// read parses the members of a chunk. It returns false if clients could parse the chunk
// differently.
func (c *chunk) read(root jsonstream.Value, member string) bool {
	*c = chunk{root: root, elements: c.elements[:0]}
	for k, v := range root.Members() {
		switch key := provider.Key(k); string(key) {
		case "choices":
			c.choices = v
		case "error":
			if provider.Present(v) {
				c.fault = v
			}
		case "usage":
			c.usage = provider.Present(v)
		case "id", "object", "created", "model", "system_fingerprint", "service_tier":
		case "obfuscation", "p": // text of random length against traffic analysis
			if v.Kind() == jsonstream.String {
				c.padding = v
			}
		default:
			if unexpectedCall(key, v, rootNames) || containsCalls(v) {
				return false
			}
		}
	}
	if !provider.Present(c.choices) {
		c.choices = jsonstream.Value{}
		return true
	}
	if c.choices.Kind() != jsonstream.Array {
		return false
	}
	for v := range c.choices.Elements() {
		if v.Kind() != jsonstream.Object {
			return false
		}
		c.elements = append(c.elements, element{v: v})
		e := &c.elements[len(c.elements)-1]
		if !e.read(member) {
			return false
		}
	}
	return true
}

// The content of a choice is in delta in a stream, and in message in a body. Some servers
// send both: the calls in the other one are a copy and are removed.
const (
	deltaMember   = "delta"
	messageMember = "message"
)

func (e *element) read(member string) bool {
	for k, v := range e.v.Members() {
		switch key := provider.Key(k); string(key) {
		case "finish_reason":
			if nonEmpty(v) || provider.Present(v) && v.Kind() != jsonstream.String {
				e.reason = v
			}
		case "logprobs":
			if e.logprobs = v; containsCalls(v) {
				return false
			}
		case "index":
		case deltaMember, messageMember:
			switch {
			case string(key) == member && provider.Present(v):
				e.delta = v
			case containsCalls(v):
				e.hasCopy = true
			}
		default:
			if unexpectedCall(key, v, choiceNames) || containsCalls(v) {
				return false
			}
		}
	}
	return !e.delta.IsValid() || e.delta.Kind() == jsonstream.Object && e.readDelta()
}

func (e *element) readDelta() bool {
	for k, v := range e.delta.Members() {
		switch key := provider.Key(k); string(key) {
		case "role", "content", "refusal":
			if v.Kind() != jsonstream.String && hiddenCall(v) {
				return false
			}
		case "tool_calls":
			if !provider.Present(v) {
				continue
			}
			if v.Kind() != jsonstream.Array {
				return false
			}
			if v.Len() > 0 {
				e.calls = v
			}
		case "function_call":
			if !provider.Present(v) {
				continue
			}
			if v.Kind() != jsonstream.Object {
				return false
			}
			e.legacy = v
		default:
			if unexpectedCall(key, v, deltaNames) || containsCalls(v) {
				return false
			}
		}
	}
	return true
}

// unexpectedCall reports whether an unexpected member folds to one that matters, or
// contains calls.
func unexpectedCall(key []byte, v jsonstream.Value, names []string) bool {
	return provider.Present(v) && (provider.IsLookalike(key, names...) || carriesCalls(key, v))
}

// carriesCalls reports whether a member has the name of calls and is not empty.
func carriesCalls(key []byte, v jsonstream.Value) bool {
	return provider.IsStrayCall(key, v) || (string(key) == "tool_calls" || string(key) == "function_call") && provider.Present(v) && (v.Kind() != jsonstream.Array || v.Len() > 0)
}

// containsCalls reports whether a value in which no conforming client looks for calls
// contains some, in any form.
func containsCalls(v jsonstream.Value) bool {
	for k, v := range v.Members() {
		if key := provider.Key(k); carriesCalls(key, v) || provider.Present(v) && provider.IsLookalike(key, "tool_calls", "function_call") {
			return true
		}
	}
	return false
}

// hiddenCall reports whether a value that should be text contains a call: in a member, or
// as a part of its list, in the form that other APIs use for calls.
func hiddenCall(v jsonstream.Value) bool {
	for part := range v.Elements() {
		_, name := part.Get("name")
		_, input := part.Get("input")
		_, arguments := part.Get("arguments")
		if name && (input || arguments) || containsCalls(part) {
			return true
		}
	}
	return containsCalls(v)
}

// index parses choices[].index, which some servers omit.
func (e *element) index(missing int) (int, bool) {
	v, _ := e.v.Get("index")
	if !provider.Present(v) {
		return missing, true
	}
	n := smallInt(v)
	return n, n > 0 || string(v.Raw()) == "0"
}

// nothingNew reports whether the members of an object, except for calls, have no new content
// for a client.
func nothingNew(delta jsonstream.Value, roleSent bool) bool {
	for k, v := range delta.Members() {
		switch string(provider.Key(k)) {
		case "tool_calls", "function_call":
			continue
		case "role":
			if roleSent {
				continue
			}
		}
		switch v.Kind() {
		case jsonstream.Null:
		case jsonstream.String:
			if nonEmpty(v) {
				return false
			}
		case jsonstream.Object, jsonstream.Array:
			if v.Len() > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}
