// Package openaichat is the codec of OpenAI Chat Completions and the many compatible
// servers.
//
//	d := openaichat.Dialect{}
//	req, err := d.Request(body)
//	st := d.Stream(req, sink, provider.Options{})
//
// Calls are keyed by choice and index, never by recency (L13). Servers use indexes, ids and
// names in different ways; a call that could be assembled in two ways is refused. A call
// ends at the finish reason of its choice and is released there: one text for all denied
// calls, the allowed ones with dense indexes in few large deltas, and the finish in an
// event of its own. Text and unknown members are forwarded at once, byte for byte.
//
// Read dialect.go and request.go first, then stream.go, chunk.go, assembly.go, call.go,
// rewrite.go and release.go; body.go is the counterpart for responses that are not
// streamed, rounds.go joins several rounds into one response.
package openaichat
