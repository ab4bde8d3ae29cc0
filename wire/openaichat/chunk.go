package openaichat

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// chunk is one event's payload, looked at once.
type chunk struct {
	root     jsonstream.Value
	choices  jsonstream.Value
	fault    jsonstream.Value // the error member, if it says something
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
	reason   jsonstream.Value // finish_reason, if it is one
	logprobs jsonstream.Value
	choice   *choice

	late   bool // the choice had calls and is over
	ends   bool // this is the finish of a choice with calls
	quiet  bool // calls aside, its delta tells the client nothing new
	mute   bool // it carries calls, and nothing else but perhaps a role
	led    bool // its content was written ahead of its finish
	copied bool // its calls stand a second time where no client reads them
}

// stray reports whether calls stand only where no client should read them: they
// are a copy of nothing, and nobody judges them.
func (e *element) stray() bool { return e.copied && len(e.choice.calls) == 0 }

// carries reports whether the element carries call data.
func (e *element) carries() bool { return e.calls.IsValid() || e.legacy.IsValid() }

// The members whose names matter on each level. One that only folds to such a name
// could be read by some clients and not by others, so it makes the answer
// malformed, and so does a call in a place where it has no business (L14): what
// some client may find there was judged by nobody.
var (
	rootNames   = []string{"choices", "error", "tool_calls", "function_call"}
	choiceNames = []string{"index", "delta", "message", "finish_reason", "tool_calls", "function_call"}
	deltaNames  = []string{"role", "content", "tool_calls", "function_call"}
)

// read looks at the members of a chunk; false: it has a shape that cannot be
// read in one way only.
func (c *chunk) read(root jsonstream.Value, member string) bool {
	*c = chunk{root: root, elements: c.elements[:0]}
	for k, v := range root.Members() {
		switch key := wire.Key(k); string(key) {
		case "choices":
			c.choices = v
		case "error":
			if wire.Present(v) {
				c.fault = v
			}
		case "usage":
			c.usage = wire.Present(v)
		case "id", "object", "created", "model", "system_fingerprint", "service_tier":
		case "obfuscation", "p": // text of random length against traffic analysis
			if v.Kind() == jsonstream.String {
				c.padding = v
			}
		default:
			if odd(key, v, rootNames) || alien(v) {
				return false
			}
		}
	}
	if !wire.Present(c.choices) {
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

// What a choice says stands in delta in a stream and in message in a body. Some
// servers send it in both: calls in the other one are a copy and are cut.
const (
	deltaMember   = "delta"
	messageMember = "message"
)

func (e *element) read(member string) bool {
	for k, v := range e.v.Members() {
		switch key := wire.Key(k); string(key) {
		case "finish_reason":
			if says(v) || wire.Present(v) && v.Kind() != jsonstream.String {
				e.reason = v
			}
		case "logprobs":
			if e.logprobs = v; alien(v) {
				return false
			}
		case "index":
		case deltaMember, messageMember:
			switch {
			case string(key) == member && wire.Present(v):
				e.delta = v
			case alien(v):
				e.copied = true
			}
		default:
			if odd(key, v, choiceNames) || alien(v) {
				return false
			}
		}
	}
	return !e.delta.IsValid() || e.delta.Kind() == jsonstream.Object && e.readDelta()
}

func (e *element) readDelta() bool {
	for k, v := range e.delta.Members() {
		switch key := wire.Key(k); string(key) {
		case "role", "content", "refusal":
			if v.Kind() != jsonstream.String && hides(v) {
				return false
			}
		case "tool_calls":
			if !wire.Present(v) {
				continue
			}
			if v.Kind() != jsonstream.Array {
				return false
			}
			if v.Len() > 0 {
				e.calls = v
			}
		case "function_call":
			if !wire.Present(v) {
				continue
			}
			if v.Kind() != jsonstream.Object {
				return false
			}
			e.legacy = v
		default:
			if odd(key, v, deltaNames) || alien(v) {
				return false
			}
		}
	}
	return true
}

// odd reports whether a member that nobody should send here could be read as one
// that matters, or carries calls.
func odd(key []byte, v jsonstream.Value, names []string) bool {
	return wire.Present(v) && (wire.Lookalike(key, names...) || carriesCalls(key, v))
}

// carriesCalls reports whether a member has the name of calls and is not empty.
func carriesCalls(key []byte, v jsonstream.Value) bool {
	return wire.StrayCall(key, v) || (string(key) == "tool_calls" || string(key) == "function_call") && wire.Present(v) && (v.Kind() != jsonstream.Array || v.Len() > 0)
}

// alien reports whether a value where no conforming client looks for calls has
// some, in one spelling or another.
func alien(v jsonstream.Value) bool {
	for k, v := range v.Members() {
		if key := wire.Key(k); carriesCalls(key, v) || wire.Present(v) && wire.Lookalike(key, "tool_calls", "function_call") {
			return true
		}
	}
	return false
}

// hides reports whether a value where text belongs has a call: in a member, or as a
// part of its list, in the form that other APIs give to calls.
func hides(v jsonstream.Value) bool {
	for part := range v.Elements() {
		_, name := part.Get("name")
		_, input := part.Get("input")
		_, arguments := part.Get("arguments")
		if name && (input || arguments) || alien(part) {
			return true
		}
	}
	return alien(v)
}

// index reads choices[].index, which some servers leave out.
func (e *element) index(missing int) (int, bool) {
	v, _ := e.v.Get("index")
	if !wire.Present(v) {
		return missing, true
	}
	n := count(v)
	return n, n > 0 || string(v.Raw()) == "0"
}

// silent reports whether an object's members, calls aside, tell a client nothing
// new.
func silent(delta jsonstream.Value, roleSent bool) bool {
	for k, v := range delta.Members() {
		switch string(wire.Key(k)) {
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
			if says(v) {
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
