package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// readHistory finds the calls, results and messages of a history.
func readHistory(r *provider.Request, messages jsonstream.Value) {
	var past provider.PastCalls
	var hashes provider.HistoryHash
	for m := range messages.Elements() {
		content, _ := m.Get("content")
		switch text(m, "role") {
		case "system", "developer":
			hashes.System(content)
			past.AddText(flow.System, content)
		case "user":
			hashes.User(content)
			readUser(&past, m, content)
		case "assistant":
			readCalls(&past, m)
		case "tool":
			past.AddResult(stopgate.CallID(text(m, "tool_call_id")), provider.PastResult{Content: content})
		case "function":
			past.AddResult(legacyID(text(m, "name")), provider.PastResult{Content: content})
		default:
			past.AddForeign(content)
		}
	}
	for i := range past.Calls {
		if _, ok := legacyName(past.Calls[i].Call); ok {
			past.Calls[i].Call = "" // as it was released
		}
	}
	r.History, r.Texts, r.Hints = past.Calls, past.Texts, hashes.Hints("")
}

// readUser adds the texts of a user message. A message that names a call is its result, which some
// clients send in the role of the user.
func readUser(past *provider.PastCalls, m, content jsonstream.Value) {
	if id, ok := m.Get("tool_call_id"); ok && provider.Present(id) {
		past.AddForeign(content)
		return
	}
	past.AddText(flow.User, content)
}

// readCalls adds the calls of an assistant message. A message without calls may occur
// between a call and its result.
func readCalls(past *provider.PastCalls, message jsonstream.Value) {
	calls, _ := message.Get("tool_calls")
	old, hasOld := message.Get("function_call")
	if calls.Len() == 0 && !provider.Present(old) {
		return
	}
	past.StartMessage()
	for c := range calls.Elements() {
		id := stopgate.CallID(text(c, "id"))
		if custom, ok := c.Get("custom"); ok {
			input, _ := custom.Get("input")
			past.Add(provider.NewPastCall(id, stopgate.ToolName(text(custom, "name")), input, provider.ArgsInput))
			continue
		}
		function, _ := c.Get("function")
		args, _ := function.Get("arguments")
		past.Add(provider.NewPastCall(id, stopgate.ToolName(text(function, "name")), args, formOf(args)))
	}
	if hasOld && provider.Present(old) {
		name := text(old, "name")
		args, _ := old.Get("arguments")
		past.Add(provider.NewPastCall(legacyID(name), stopgate.ToolName(name), args, formOf(args)))
	}
}

// formOf returns the form of the arguments in a message: some compatible servers send them
// as an object.
func formOf(args jsonstream.Value) provider.ArgsForm {
	if args.Kind() == jsonstream.Object {
		return provider.ArgsObject
	}
	return provider.ArgsText
}

// A legacy call has no id: its result has the name of the function. No provider uses ids
// that start with a zero byte.
const legacyMark = "\x00"

func legacyID(name string) stopgate.CallID { return stopgate.CallID(legacyMark + name) }

func legacyName(id stopgate.CallID) (string, bool) {
	if len(id) == 0 || id[0] != legacyMark[0] {
		return "", false
	}
	return string(id[1:]), true
}
