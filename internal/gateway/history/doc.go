// Package history identifies the conversation that a request to an LLM gateway belongs to: its
// session, the earlier calls and results that the request repeats, and the changes to the history
// before the provider receives it.
//
//	c := history.Find(ctx, req, r.Header, history.Options{Log: log, Dialect: d, Principal: p})
//	turn := gate.Turn(session.Owner{Principal: p, Session: c.Session}, id)
//	body = c.RecordResults(ctx, req, turn, call, body, true)
//	body = c.Restore(ctx, body)
//	...
//	c.Save(ctx, req, codec, func() []responselog.Call { return released }, nil)
//
// A history is text from the client. Only those parts count that the gate can confirm from its own
// state, so a wrong history never makes a verdict more permissive. Entries of the response log that
// cannot be read are treated as missing.
package history
