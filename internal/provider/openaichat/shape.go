package openaichat

import "github.com/stopgate/stopgate/internal/provider"

// The members that clients read in a chunk and in a body. Only tool_calls and function_call
// of a choice's delta or message contain calls.
var (
	messageShape = provider.Shape{"role": nil, "content": provider.NoCalls, "refusal": provider.NoCalls, "tool_calls": nil, "function_call": nil}
	chunkShape   = rootShape(deltaMember)
	bodyShape    = rootShape(messageMember)
)

func rootShape(member string) provider.Shape {
	choice := provider.Shape{provider.EvaluatedElements: nil, "index": nil, "finish_reason": nil, member: messageShape}
	return provider.Shape{"id": nil, "object": nil, "created": nil, "model": nil, "usage": nil, "error": nil, "choices": choice}
}
