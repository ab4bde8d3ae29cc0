package anthropic

import "github.com/stopgate/stopgate/internal/provider"

// The members that clients read in an event and in a body. Calls are blocks of the content,
// and start in content_block.
var (
	blockShape = provider.Shape{provider.EvaluatedElements: nil, "type": nil, "id": nil, "name": nil, "input": nil, "caller": nil, "text": nil, "citations": provider.NoCalls}
	eventShape = provider.Shape{
		"type": nil, "index": nil, "usage": nil, "error": nil, "container": nil,
		"content_block": blockShape, "content": blockShape,
		"delta":   {"type": nil, "partial_json": nil, "text": nil, "thinking": nil, "stop_reason": nil, "content": blockShape, "container": nil, "citation": provider.NoCalls},
		"message": {"id": nil, "type": nil, "role": nil, "usage": nil, "container": nil, "content": blockShape},
	}
)
