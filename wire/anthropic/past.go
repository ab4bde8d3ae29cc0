package anthropic

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// maxUserID bounds what is read of metadata.user_id (WIRE 7.3).
const maxUserID = 8 << 10

// readHistory finds the calls, results and messages of a history (WIRE 7.1).
func readHistory(r *wire.Request, root jsonstream.Value) {
	var past wire.PastList
	var speech wire.Speech
	system, _ := root.Get("system")
	speech.System(system)
	messages, _ := root.Get("messages")
	for m := range messages.Elements() {
		role, _ := m.Get("role")
		content, _ := m.Get("content")
		switch {
		case role.IsText("assistant"):
			readCalls(&past, content)
		case role.IsText("user"):
			if !readResults(&past, content) {
				speech.User(content)
			}
		}
	}
	user := r.Hints.UserID
	r.Past, r.Hints = past.List, speech.Hints("")
	r.Hints.UserID = user
}

// readCalls takes the calls of an assistant's message.
func readCalls(past *wire.PastList, content jsonstream.Value) {
	past.Message()
	for block := range content.Elements() {
		if !isBlock(block, "tool_use") {
			continue
		}
		id, _ := block.Get("id")
		name, _ := block.Get("name")
		input, _ := block.Get("input")
		past.Add(wire.NewPast(stopgate.CallID(id.Text()), stopgate.ToolName(name.Text()), input, wire.ArgsObject))
	}
}

// readResults takes the results of a user's message, and reports whether there are
// any: what clients write beside results is theirs rather than the user's.
func readResults(past *wire.PastList, content jsonstream.Value) (found bool) {
	for block := range content.Elements() {
		if !isBlock(block, "tool_result") {
			continue
		}
		found = true
		id, _ := block.Get("tool_use_id")
		result, _ := block.Get("content")
		failed, _ := block.Get("is_error")
		past.Result(stopgate.CallID(id.Text()), wire.PastResult{Content: result, Failed: failed.Kind() == jsonstream.True, Flagged: true})
	}
	return found
}

func isBlock(block jsonstream.Value, typ string) bool {
	v, _ := block.Get("type")
	return v.IsText(typ)
}
