// Package chain runs event policies in the LLM gateway: it finds the hooks of policies, passes the
// texts and calls of a response through them in order, and ends a response whose hook fails.
//
//	c, err := chain.New(policies...)
//	run := c.Begin(chain.Setup{Exchange: events.Exchange{Dialect: "anthropic", Streamed: true}})
//	edited := run.Reader(ctx, response.Body)
//
// A policy that fails, panics or exceeds its time never makes a response weaker: the text that it did
// not send is not sent, and no call runs (I14, FM15). The gate judges what the chain forwards.
package chain
