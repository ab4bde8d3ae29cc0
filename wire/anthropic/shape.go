package anthropic

import "github.com/stopgate/stopgate/wire"

// What clients read in an event and in a body. Calls are blocks of the content, and begin in
// content_block.
var (
	blockShape = wire.Shape{wire.Judged: nil, "type": nil, "id": nil, "name": nil, "input": nil, "caller": nil, "text": nil, "citations": wire.Anything}
	eventShape = wire.Shape{
		"type": nil, "index": nil, "usage": nil, "error": nil, "container": nil,
		"content_block": blockShape, "content": blockShape,
		"delta":   {"type": nil, "partial_json": nil, "text": nil, "thinking": nil, "stop_reason": nil, "content": blockShape, "container": nil, "citation": wire.Anything},
		"message": {"id": nil, "type": nil, "role": nil, "usage": nil, "container": nil, "content": blockShape},
	}
)
