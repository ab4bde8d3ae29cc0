package openairesponses

import (
	"maps"

	"github.com/stopgate/stopgate/internal/provider"
)

// The members that clients read in an event and in a response. Calls are items of the
// output. The copy of the request in a response is not inspected.
var (
	itemShape = provider.Shape{provider.EvaluatedElements: nil, "id": nil, "type": nil, "call_id": nil, "name": nil, "namespace": nil, "arguments": nil, "input": nil,
		"action": nil, "operation": nil, "status": nil, "execution": nil, "environment": nil, "caller": nil,
		"content": provider.NoCalls, "summary": provider.NoCalls, "output": nil, "tools": nil}
	responseShape = provider.Shape{"id": nil, "object": nil, "status": nil, "error": nil, "usage": nil, "output": itemShape, "output_text": nil,
		"tools": nil, "tool_choice": nil, "instructions": nil, "input": nil, "text": nil, "metadata": nil, "prompt": nil, "reasoning": nil}
	eventShape = provider.Shape{"type": nil, "sequence_number": nil, "output_index": nil, "item_id": nil, "item": itemShape, "delta": provider.NoCalls, "part": provider.NoCalls,
		"arguments": nil, "input": nil, "name": nil, "command": nil, "diff": nil, "response": responseShape, "output": itemShape, "error": nil}
	// A body is a response; an event of a stream is refused as a whole.
	bodyShape = with(responseShape, provider.Shape{"item": itemShape, "response": responseShape})
)

func with(a, b provider.Shape) provider.Shape {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}
