// Package openairesponses is the codec of OpenAI's Responses API: it finds the
// tool calls of a response, holds them, and writes the response again with the
// calls that may run and a message in the place of each one that may not.
//
//	var d openairesponses.Dialect
//	req, err := d.Request(body)
//	st := d.Stream(req, sink, wire.Options{})
//
// A response says the arguments of a call up to four times: in deltas, in the
// event that ends them, in the finished item and in the response that ends the
// stream. All of them must be equal, and all that leave are written from the one
// value that was judged (WIRE 3.4). From the first call on, every item is held
// until the end of the response, because clients find items by their position
// and a position is known to stay only then. A denied call becomes a message at
// its own position, so no other item moves (WIRE 3.5). What came before the first
// call streams untouched, byte for byte, and so does a response without calls.
package openairesponses
