// Package link connects to MCP servers: to processes over standard input and output, and to
// streamable HTTP endpoints.
//
//	l, err := link.Start(link.Command{Args: []string{"mcp-server-filesystem", "/srv"}}, events)
//	...
//	reply, err := l.Call(ctx, &link.Call{Text: text, ID: "1", Method: "tools/list", OnMessage: progress})
//
// A link transports messages. Of their content it reads only the members that relate a message
// to a request. Messages are parsed strictly (internal/mcp/jsonrpc); a response without a request
// is dropped and reported. A link that failed stays failed: all its calls return an error,
// and the owner opens a new link.
package link
