// Package downstream keeps the open requests of one MCP client, and those of servers and of the
// gateway to it. Ids and progress tokens towards the client are the gateway's own, so that a server
// cannot respond to, cancel or report progress of the request of another one.
//
//	c := downstream.New(send, false)
//	x := downstream.NewRequest(m, write)
//	ctx, ok := c.Begin(ctx, x, false)
//	defer c.Finish(x)
package downstream
