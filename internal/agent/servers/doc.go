// Package servers provides the tools of MCP servers to the terminal agent.
//
//	set, err := servers.New(servers.Options{
//		Servers: []servers.Server{{ID: "files", Identity: "files-5f1c02aa", Open: start}},
//		Pins:    pins,
//	})
//	defer set.Close()
//	runner := agent.Join(own, set) // its tools are files__read_file, files__write_file, ...
//
// New starts all servers concurrently; the first request to the model waits for them. A
// failed server is restarted on next use, with increasing delays.
//
//   - A changed tool definition is refused until an operator accepts it (G4), also while the agent runs.
//   - Hidden characters in definitions are escaped for the model (G6).
//   - Servers receive only tools/list, tools/call and ping. Sampling, elicitation and roots are not offered (G11).
//   - If a server hangs, exits, sends invalid messages or too much data, the call fails with an explanation. A call is never sent twice.
//   - Results are the server's text; content that cannot be shown as text is described.
package servers
