package wire

import "github.com/stopgate/stopgate/jsonstream"

// Shape says what the clients of a dialect read in an object, or in each object of a list. A
// member with a nil shape is not looked into: the codec reads it itself, or nobody looks for
// calls in it. In a shape that is nil itself, and in members that it does not name, no call
// belongs.
type Shape map[string]Shape

// Judged marks a list whose elements the codec judges itself.
const Judged = "[]"

// Anything is the shape of a member that clients read and in which no call belongs.
var Anything = Shape{}

// Strays collects the removals of what no codec judges and some client may take for a call:
// members with the name of calls of any dialect, and values with the form of one. It
// reports whether there is any, and notes each.
func (n *Notes) Strays(edits *Edits, v jsonstream.Value, s Shape) (found bool) {
	switch v.Kind() {
	case jsonstream.Object:
		gone := 0
		for k, m := range v.Members() {
			if sub, read := s[string(Key(k))]; read {
				found = sub != nil && n.Strays(edits, m, sub) || found
			} else if stray(k, m) {
				n.drop(string(Key(k)))
				gone++
			} else {
				found = n.Strays(edits, m, nil) || found
			}
		}
		if gone > 0 {
			found = true
			edits.Remove(v, func(k, m jsonstream.Value) bool {
				_, read := s[string(Key(k))]
				return !read && stray(k, m)
			})
		}
	case jsonstream.Array:
		_, judged := s[Judged]
		gone := 0
		for e := range v.Elements() {
			if !judged && callForm(e) {
				n.drop("element")
				gone++
			} else {
				found = n.Strays(edits, e, s) || found
			}
		}
		if gone > 0 {
			found = true
			edits.Remove(v, func(_, e jsonstream.Value) bool { return callForm(e) })
		}
	}
	return found
}

// drop notes a member that was taken out.
func (n *Notes) drop(name string) {
	n.Dropped++
	n.Removed = noted(n.Removed, name)
}

func stray(k, v jsonstream.Value) bool {
	if StrayCall(Key(k), v) || callForm(v) {
		return true
	}
	if v.Kind() == jsonstream.Array {
		for e := range v.Elements() {
			if callForm(e) {
				return true
			}
		}
	}
	return false
}

// callNames are the members in which calls stand, in the dialects of all providers.
var callNames = []string{
	"tool_calls", "tool_call", "function_call", "function_calls", "tool_use", "tool_uses",
	"toolCalls", "toolCall", "functionCall", "functionCalls", "toolUse", "toolUses",
}

// callForm reports whether a value has the form of a call: its type says so, or it names a
// tool beside arguments.
func callForm(v jsonstream.Value) bool {
	if v.Kind() != jsonstream.Object {
		return false
	}
	typ, _ := v.Get("type")
	for _, t := range [...]string{"tool_use", "tool_call", "tool-call", "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call"} {
		if typ.IsText(t) {
			return true
		}
	}
	for _, carrier := range [...]string{"function", "custom"} {
		if inner, ok := v.Get(carrier); ok && namesTool(inner) {
			return true
		}
	}
	return namesTool(v)
}

func namesTool(v jsonstream.Value) bool {
	name, ok := v.Get("name")
	if !ok || name.Kind() != jsonstream.String {
		return false
	}
	for _, member := range [...]string{"arguments", "input", "args"} {
		if args, ok := v.Get(member); ok && Present(args) {
			return true
		}
	}
	return false
}

// OfOtherDialect reports whether an event of a stream is one of another dialect than its
// own: a client may find calls in it that no codec of this one looks for.
func OfOtherDialect(event jsonstream.Value, own string) bool {
	typ, _ := event.Get("type")
	object, _ := event.Get("object")
	choices, _ := event.Get("choices")
	is := ""
	switch text := typ.Text(); {
	case len(text) > len("response.") && text[:len("response.")] == "response.":
		is = "openai-responses"
	case text == "message_start", text == "message_delta", text == "message_stop",
		text == "content_block_start", text == "content_block_delta", text == "content_block_stop":
		is = "anthropic"
	case choices.Kind() == jsonstream.Array, object.IsText("chat.completion.chunk"), object.IsText("chat.completion"):
		is = "openai-chat"
	}
	return is != "" && is != own
}
