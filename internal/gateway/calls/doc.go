// Package calls tracks the tool calls of one response: it opens a pending call in the gate for each,
// feeds it argument bytes, requests approval at the byte where the verdict asks, passes complete calls
// through the event policies, and resolves them.
//
//	c := calls.Calls{Setup: setup}
//	stream := dialect.Stream(req, &c, options) // the codec reports calls to c
//	...
//	c.ResolveAll(ctx, c.Due())
//	outcomes := c.Releases(due)
package calls
