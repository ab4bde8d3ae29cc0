package anthropic

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxUserID limits the length of metadata.user_id.
const maxUserID = 8 << 10

// readHistory finds the calls, results and messages of a history.
func readHistory(r *provider.Request, root jsonstream.Value) {
	var past provider.PastCalls
	var hashes provider.HistoryHash
	system, _ := root.Get("system")
	hashes.System(system)
	past.AddText(flow.System, system)
	messages, _ := root.Get("messages")
	for m := range messages.Elements() {
		role, _ := m.Get("role")
		content, _ := m.Get("content")
		switch {
		case role.IsText("assistant"):
			readCalls(&past, content)
		case role.IsText("user"):
			if !readUser(&past, content) {
				hashes.User(content)
			}
		case role.IsText("system"):
			past.AddText(flow.System, content)
		default:
			past.AddForeign(content)
		}
	}
	user := r.Hints.UserID
	r.History, r.Texts, r.Hints = past.Calls, past.Texts, hashes.Hints("")
	r.Hints.UserID = user
}

// readCalls adds the calls of an assistant message, and the results of tools that ran at the
// provider. Content of an unknown type may have a result.
func readCalls(past *provider.PastCalls, content jsonstream.Value) {
	past.StartMessage()
	for block := range content.Elements() {
		switch kindOf(block) {
		case clientCall:
			id, _ := block.Get("id")
			name, _ := block.Get("name")
			input, _ := block.Get("input")
			past.Add(provider.NewPastCall(stopgate.CallID(id.Text()), stopgate.ToolName(name.Text()), input, provider.ArgsObject))
		case providerResult:
			past.AddProviderResult(block, true)
		case unknownContent, unknownCall:
			past.AddProviderResult(block, false)
		}
	}
}

// readUser adds the results and the texts of a user message, and reports whether there are
// results. Text next to results is written by the client, not by the user.
func readUser(past *provider.PastCalls, content jsonstream.Value) (results bool) {
	for block := range content.Elements() {
		results = results || isBlock(block, "tool_result")
	}
	if !results {
		past.AddText(flow.User, content)
		return false
	}
	for block := range content.Elements() {
		if !isBlock(block, "tool_result") {
			past.AddForeign(block)
			continue
		}
		id, _ := block.Get("tool_use_id")
		result, _ := block.Get("content")
		failed, _ := block.Get("is_error")
		past.AddResult(stopgate.CallID(id.Text()), provider.PastResult{Content: result, Failed: failed.Kind() == jsonstream.True, HasStatus: true})
	}
	return true
}

func isBlock(block jsonstream.Value, typ string) bool {
	v, _ := block.Get("type")
	return v.IsText(typ)
}
