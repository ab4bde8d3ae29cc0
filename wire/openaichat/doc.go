// Package openaichat is the codec of OpenAI Chat Completions and the many
// compatible servers (WIRE 2).
//
//	d := openaichat.Dialect{}
//	req, err := d.Request(body)
//	st := d.Stream(req, sink, wire.Options{})
//
// Calls are keyed by choice and index and never by recency; what servers do with
// indexes, ids and names is read as WIRE 2.3 says, and what could be read in two
// ways is refused. A call ends at its choice's finish reason, so calls are
// released there: one text for all denied calls, the surviving ones with dense
// indexes in few large deltas, and the finish in an event of its own. Text and
// everything unknown passes at once, byte for byte.
package openaichat
