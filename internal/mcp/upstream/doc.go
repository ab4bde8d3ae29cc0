// Package upstream is one client's connection to one MCP server. It connects on first use and
// again after a failure with increasing delays, initializes the server, and numbers the requests.
//
//	c := upstream.New(upstream.Options{Name: "files", Open: open, Timeout: 10 * time.Minute, Log: log, Work: &work, Incoming: handle})
//	reply, err := c.Initialize(ctx, initialize)
//	reply, err = c.Request(ctx, &upstream.Call{Method: "tools/list", Text: text})
package upstream
