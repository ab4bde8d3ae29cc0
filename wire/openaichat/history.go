package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// readHistory finds the calls, results and messages of a history (WIRE 7.1).
func readHistory(r *wire.Request, messages jsonstream.Value) {
	var past wire.PastList
	var speech wire.Speech
	for m := range messages.Elements() {
		content, _ := m.Get("content")
		switch text(m, "role") {
		case "system", "developer":
			speech.System(content)
		case "user":
			speech.User(content)
		case "assistant":
			readCalls(&past, m)
		case "tool":
			past.Result(stopgate.CallID(text(m, "tool_call_id")), wire.PastResult{Content: content})
		case "function":
			past.Result(legacyID(text(m, "name")), wire.PastResult{Content: content})
		}
	}
	for i := range past.List {
		if _, ok := legacyName(past.List[i].Call); ok {
			past.List[i].Call = "" // as it was released
		}
	}
	r.Past, r.Hints = past.List, speech.Hints("")
}

// readCalls takes the calls of an assistant's message. A message without calls stands
// between no call and its result.
func readCalls(past *wire.PastList, message jsonstream.Value) {
	calls, _ := message.Get("tool_calls")
	old, hasOld := message.Get("function_call")
	if calls.Len() == 0 && !wire.Present(old) {
		return
	}
	past.Message()
	for c := range calls.Elements() {
		id := stopgate.CallID(text(c, "id"))
		if custom, ok := c.Get("custom"); ok {
			input, _ := custom.Get("input")
			past.Add(wire.NewPast(id, stopgate.ToolName(text(custom, "name")), input, wire.ArgsInput))
			continue
		}
		function, _ := c.Get("function")
		args, _ := function.Get("arguments")
		past.Add(wire.NewPast(id, stopgate.ToolName(text(function, "name")), args, formOf(args)))
	}
	if hasOld && wire.Present(old) {
		name := text(old, "name")
		args, _ := old.Get("arguments")
		past.Add(wire.NewPast(legacyID(name), stopgate.ToolName(name), args, formOf(args)))
	}
}

// formOf is how the arguments stand in a message: some compatible servers have them
// as an object.
func formOf(args jsonstream.Value) wire.ArgsForm {
	if args.Kind() == jsonstream.Object {
		return wire.ArgsObject
	}
	return wire.ArgsText
}

// The legacy form of a call has no id: its result has the function's name. No id of a
// provider begins with a zero byte.
const legacyMark = "\x00"

func legacyID(name string) stopgate.CallID { return stopgate.CallID(legacyMark + name) }

func legacyName(id stopgate.CallID) (string, bool) {
	if len(id) == 0 || id[0] != legacyMark[0] {
		return "", false
	}
	return string(id[1:]), true
}
