package openaichat

import "github.com/stopgate/stopgate/wire"

// What clients read in a chunk and in a body. Calls stand in tool_calls and function_call of
// a choice's delta or message, and nowhere else.
var (
	messageShape = wire.Shape{"role": nil, "content": wire.Anything, "refusal": wire.Anything, "tool_calls": nil, "function_call": nil}
	chunkShape   = rootShape(deltaMember)
	bodyShape    = rootShape(messageMember)
)

func rootShape(member string) wire.Shape {
	choice := wire.Shape{wire.Judged: nil, "index": nil, "finish_reason": nil, member: messageShape}
	return wire.Shape{"id": nil, "object": nil, "created": nil, "model": nil, "usage": nil, "error": nil, "choices": choice}
}
