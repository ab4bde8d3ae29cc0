package provider

import "github.com/stopgate/stopgate/jsonstream"

// Shape lists the members that the clients of a dialect read in an object, or in each
// object of a list. A member with a nil shape is not inspected: the codec reads it, or
// clients do not look for calls in it. A nil Shape, and members that a shape does not list,
// must not contain calls.
type Shape map[string]Shape

// EvaluatedElements marks a list whose elements the codec evaluates.
const EvaluatedElements = "[]"

// NoCalls is the shape of a member that clients read and that must not contain calls.
var NoCalls = Shape{}

// RemoveStrayCalls adds the edits that remove values that no codec evaluates but a client could
// read as a call: members with the name of calls of any dialect, and values with the form
// of a call. It reports whether there are any, and records each in the notes.
func (n *Notes) RemoveStrayCalls(edits *Edits, v jsonstream.Value, s Shape) (found bool) {
	switch v.Kind() {
	case jsonstream.Object:
		removed := 0
		for k, m := range v.Members() {
			if sub, read := s[string(Key(k))]; read {
				found = sub != nil && n.RemoveStrayCalls(edits, m, sub) || found
			} else if isStray(k, m) {
				n.noteRemoved(string(Key(k)))
				removed++
			} else {
				found = n.RemoveStrayCalls(edits, m, nil) || found
			}
		}
		if removed > 0 {
			found = true
			edits.Remove(v, func(k, m jsonstream.Value) bool {
				_, read := s[string(Key(k))]
				return !read && isStray(k, m)
			})
		}
	case jsonstream.Array:
		_, judged := s[EvaluatedElements]
		removed := 0
		for e := range v.Elements() {
			if !judged && hasCallForm(e) {
				n.noteRemoved("element")
				removed++
			} else {
				found = n.RemoveStrayCalls(edits, e, s) || found
			}
		}
		if removed > 0 {
			found = true
			edits.Remove(v, func(_, e jsonstream.Value) bool { return hasCallForm(e) })
		}
	}
	return found
}

// noteRemoved records a removed member.
func (n *Notes) noteRemoved(name string) {
	n.Dropped++
	n.Removed = appendNote(n.Removed, name)
}

func isStray(k, v jsonstream.Value) bool {
	if IsStrayCall(Key(k), v) || hasCallForm(v) {
		return true
	}
	if v.Kind() == jsonstream.Array {
		for e := range v.Elements() {
			if hasCallForm(e) {
				return true
			}
		}
	}
	return false
}

// callNames are the member names of calls in the dialects of all providers.
var callNames = []string{
	"tool_calls", "tool_call", "function_call", "function_calls", "tool_use", "tool_uses",
	"toolCalls", "toolCall", "functionCall", "functionCalls", "toolUse", "toolUses",
}

// hasCallForm reports whether a value has the form of a call: its type is one of a call, or
// it has both a tool name and arguments.
func hasCallForm(v jsonstream.Value) bool {
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

// IsOtherDialect reports whether an event belongs to another dialect than own: a client
// could find calls in it that the codec of own does not look for.
func IsOtherDialect(event jsonstream.Value, own string) bool {
	typ, _ := event.Get("type")
	object, _ := event.Get("object")
	choices, _ := event.Get("choices")
	candidates, _ := event.Get("candidates")
	is := ""
	switch text := typ.Text(); {
	case len(text) > len("response.") && text[:len("response.")] == "response.":
		is = "openai-responses"
	case text == "message_start", text == "message_delta", text == "message_stop",
		text == "content_block_start", text == "content_block_delta", text == "content_block_stop":
		is = "anthropic"
	case choices.Kind() == jsonstream.Array, object.IsText("chat.completion.chunk"), object.IsText("chat.completion"):
		is = "openai-chat"
	case candidates.Kind() == jsonstream.Array:
		is = "gemini"
	}
	return is != "" && is != own
}
