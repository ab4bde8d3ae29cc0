package history

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// Hint reads a member that identifies the conversation of a request.
func Hint(h *provider.Hints, member string, v jsonstream.Value) {
	switch member {
	case "conversation":
		if h.Conversation = v.Text(); v.Kind() == jsonstream.Object {
			h.Conversation = wire.Text(v, "id")
		}
	case "previous_response_id":
		h.PreviousResponse = v.Text()
	case "prompt_cache_key":
		h.CacheKey = v.Text()
	}
}

// Read finds the calls, results and messages of a request with this input.
func Read(r *provider.Request, instructions, input jsonstream.Value, hashes *provider.HistoryHash) {
	var past provider.PastCalls
	past.AddText(flow.System, instructions)
	if input.Kind() == jsonstream.String {
		hashes.User(input)
		past.AddText(flow.User, input)
	}
	for item := range input.Elements() {
		typ := wire.Text(item, "type")
		content, _ := item.Get("content")
		switch role := wire.Text(item, "role"); {
		case typ == "item_reference":
			if id := wire.Text(item, "id"); !strings.HasPrefix(id, reasoningID) && !strings.HasPrefix(id, callID) {
				r.Unseen = append(r.Unseen, "item "+id)
			}
		case typ != "" && typ != "message":
			readItem(&past, typ, item)
		case role == "system", role == "developer":
			hashes.System(content)
			past.AddText(flow.System, content)
		case role == "user":
			hashes.User(content)
			past.AddText(flow.User, content)
		case role != "assistant":
			past.AddForeign(content)
		}
	}
	r.History, r.Texts = past.Calls, past.Texts
}

// The prefixes of the ids of items that only have words of the model: its thoughts, and the arguments
// of calls of the client's functions.
const (
	reasoningID = "rs_"
	callID      = "fc_"
)

// readItem adds a call or a result.
func readItem(past *provider.PastCalls, typ string, item jsonstream.Value) {
	id := stopgate.CallID(wire.Text(item, "call_id"))
	if call, ok := strings.CutSuffix(typ, "_output"); ok {
		if tools, ok := item.Get("tools"); ok {
			past.AddForeign(tools)
		}
		if id == "" {
			past.AddItemResult(stopgate.CallID(wire.Text(item, "id")), result(call, item))
		} else {
			past.AddResult(id, result(call, item))
		}
		return
	}
	k := wire.Kinds[typ]
	if typ == "shell_call" {
		k = wire.Shell
	}
	if !k.Call() {
		readOther(past, typ, item)
		return
	}
	args, _ := item.Get(k.Member())
	form := provider.ArgsObject
	switch {
	case k == wire.Custom:
		form = provider.ArgsInput
	case k == wire.Function:
		form = provider.ArgsText
	}
	past.Add(provider.NewPastCall(id, stopgate.ToolName(wire.ToolOf(k, item)), args, form))
	past.AddAlias(stopgate.CallID(wire.Text(item, "id")))
}

// readOther adds the text of an item that is neither a message nor a call for the client, nor the
// result of one: the results of tools that ran at the provider. The model may read more than the
// item has.
func readOther(past *provider.PastCalls, typ string, item jsonstream.Value) {
	past.AddProviderResult(wire.ResultOf(typ, item))
}

// result reads an output item; call is the type of its call.
func result(call string, item jsonstream.Value) provider.PastResult {
	output, _ := item.Get("output")
	r := provider.PastResult{Content: output}
	switch call {
	case "apply_patch_call":
		r.HasStatus, r.Failed = true, wire.Text(item, "status") == "failed"
	case "shell_call":
		r.HasStatus = true
		for chunk := range output.Elements() {
			outcome, _ := chunk.Get("outcome")
			code, _ := outcome.Get("exit_code")
			r.Failed = r.Failed || wire.Text(outcome, "type") != "exit" || string(code.Raw()) != "0"
		}
		r.WrapText = func(quoted []byte) []byte {
			return append(append([]byte(`[{"stdout":"","stderr":`), quoted...), `,"outcome":{"type":"exit","exit_code":1}}]`...)
		}
	}
	return r
}
