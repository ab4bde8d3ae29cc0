// Package link talks to MCP servers: to processes over their standard input and
// output, and to streamable HTTP endpoints.
//
//	l, err := link.Start(link.Command{Args: []string{"mcp-server-filesystem", "/srv"}}, stray)
//	...
//	reply, err := l.Call(ctx, &link.Call{Text: text, ID: "1", Method: "tools/list", On: progress})
//
// A link carries messages and knows nothing of what they mean, but for the request
// that a message belongs to. What arrives is read strictly (wire/jsonrpc); a response
// that answers nothing is dropped and counted. A link that failed is dead for good:
// every call that waits on it fails, and whoever opened it opens another one.
package link
