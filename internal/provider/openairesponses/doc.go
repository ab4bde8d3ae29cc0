// Package openairesponses is the codec of OpenAI's Responses API. It finds the tool calls
// of a response, buffers them until they are decided, and writes the response with the
// allowed calls and with a message in place of each denied one.
//
//	var d openairesponses.Dialect
//	req, err := d.Request(body)
//	st := d.Stream(req, sink, provider.Options{})
//
// A response contains the arguments of a call up to four times: in deltas, in the event
// that ends them, in the finished item, and in the response that ends the stream. All
// copies must be equal, and all released copies are written from the one evaluated value
// (L5). From the first call on, every item is buffered until the end of the response:
// clients find items by their position, and only then is it certain that positions stay. A
// denied call becomes a message at its own position, so no other item moves (L7). Earlier
// content is streamed unchanged, byte for byte, and so is a response without calls.
//
// Read dialect.go and request.go first, then stream.go, assembly.go, call.go, copies.go and
// release.go; body.go is the counterpart for responses that are not streamed, joined.go and
// rounds.go join several rounds, and restore.go restores denied calls in later requests.
package openairesponses
