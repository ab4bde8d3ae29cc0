package openaichat

import "github.com/stopgate/stopgate/internal/wire"

// The members that clients read in a chunk and in a body. Only tool_calls and function_call
// of a choice's delta or message contain calls.
var (
	messageShape = wire.Shape{"role": nil, "content": wire.NoCalls, "refusal": wire.NoCalls, "tool_calls": nil, "function_call": nil}
	chunkShape   = rootShape(deltaMember)
	bodyShape    = rootShape(messageMember)
)

func rootShape(member string) wire.Shape {
	choice := wire.Shape{wire.EvaluatedElements: nil, "index": nil, "finish_reason": nil, member: messageShape}
	return wire.Shape{"id": nil, "object": nil, "created": nil, "model": nil, "usage": nil, "error": nil, "choices": choice}
}
