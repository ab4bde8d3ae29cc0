// Package history is what an LLM gateway makes of the conversation that a request is a
// part of: whose session it is, what it says about earlier calls and their results, and
// what the provider must get instead of what the client sends.
//
//	c := history.Find(ctx, req, r.Header, history.Options{Book: book, Dialect: d, Principal: p})
//	turn := gate.Turn(session.Owner{Principal: p, Session: c.Session}, id)
//	body = c.Recall(ctx, req, turn, like, body, true)
//	body = c.Restore(ctx, body)
//	...
//	c.Keep(ctx, req, codec, func() []ledger.Call { return released }, nil)
//
// A history is the client's text, so nothing in it counts that the gate does not know by
// itself (WIRE 7.2), and no mistake in it makes a verdict weaker. What a ledger cannot
// read is not known.
package history
