// Package anthropic is the codec of Anthropic's Messages API. It finds the tool calls of a
// response, buffers them until they are decided, and writes the response with the allowed
// calls and with a text in place of the denied ones.
//
//	var d anthropic.Dialect
//	req, err := d.Request(body)
//	st := d.Stream(req, sink, provider.Options{})
//
// The first tool_use block and every later block are buffered until message_stop: the API
// refuses text after a tool call, so a denial must precede the first call (AM5), and
// whether there is a denial is known only when the last call is decided. Earlier content is
// streamed unchanged, byte for byte, and so are pings, errors and responses without calls.
//
// Read dialect.go and request.go first, then stream.go, blocks.go, call.go and release.go;
// body.go is the counterpart for responses that are not streamed. rounds.go, joined.go and
// history.go join several rounds into one response and restore them in later requests.
package anthropic
