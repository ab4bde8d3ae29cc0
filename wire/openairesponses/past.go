package openairesponses

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// hint takes a member that says which conversation a request belongs to.
func hint(h *wire.Hints, member string, v jsonstream.Value) {
	switch member {
	case "conversation":
		if h.Conversation = v.Text(); v.Kind() == jsonstream.Object {
			h.Conversation = text(v, "id")
		}
	case "previous_response_id":
		h.Previous = v.Text()
	case "prompt_cache_key":
		h.CacheKey = v.Text()
	}
}

// readHistory finds the calls, results and messages of an input (WIRE 7.1).
func readHistory(input jsonstream.Value, speech *wire.Speech) []wire.Past {
	if input.Kind() == jsonstream.String {
		speech.User(input)
	}
	var past wire.PastList
	for item := range input.Elements() {
		typ := text(item, "type")
		content, _ := item.Get("content")
		switch role := text(item, "role"); {
		case typ != "" && typ != "message":
			readItem(&past, typ, item)
		case role == "system", role == "developer":
			speech.System(content)
		case role == "user":
			speech.User(content)
		}
	}
	return past.List
}

// readItem takes a call or a result.
func readItem(past *wire.PastList, typ string, item jsonstream.Value) {
	id := stopgate.CallID(text(item, "call_id"))
	if call, ok := strings.CutSuffix(typ, "_output"); ok {
		if id == "" {
			past.ItemResult(stopgate.CallID(text(item, "id")), result(call, item))
		} else {
			past.Result(id, result(call, item))
		}
		return
	}
	k := kinds[typ]
	if typ == "shell_call" {
		k = shell
	}
	if !k.call() {
		return
	}
	args, _ := item.Get(k.member())
	form := wire.ArgsObject
	switch {
	case k == custom:
		form = wire.ArgsInput
	case k == function:
		form = wire.ArgsText
	}
	past.Add(wire.NewPast(id, stopgate.ToolName(toolOf(k, item)), args, form))
	past.Also(stopgate.CallID(text(item, "id")))
}

// result is what an output item says about the call of a type.
func result(call string, item jsonstream.Value) wire.PastResult {
	output, _ := item.Get("output")
	r := wire.PastResult{Content: output}
	switch call {
	case "apply_patch_call":
		r.Flagged, r.Failed = true, text(item, "status") == "failed"
	case "shell_call":
		r.Flagged = true
		for chunk := range output.Elements() {
			outcome, _ := chunk.Get("outcome")
			code, _ := outcome.Get("exit_code")
			r.Failed = r.Failed || text(outcome, "type") != "exit" || string(code.Raw()) != "0"
		}
		r.Replacement = func(quoted []byte) []byte {
			return append(append([]byte(`[{"stdout":"","stderr":`), quoted...), `,"outcome":{"type":"exit","exit_code":1}}]`...)
		}
	}
	return r
}
