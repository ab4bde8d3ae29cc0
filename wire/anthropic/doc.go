// Package anthropic is the codec of Anthropic's Messages API: it finds the tool
// calls of a response, holds them, and writes the response again with the calls
// that may run and a text in the place of those that may not.
//
//	var d anthropic.Dialect
//	req, err := d.Request(body)
//	st := d.Stream(req, sink, wire.Options{})
//
// From the first tool_use block on, this block and every later one is held until
// message_stop: the API refuses text behind a tool call, so a denial has to
// stand in front of the first one, and whether there is a denial is known only
// when the last call is decided (WIRE 4.5). What came before streams untouched,
// byte for byte; so do pings, errors and everything of a response without calls.
package anthropic
