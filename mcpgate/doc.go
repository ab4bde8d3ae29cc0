// Package mcpgate is a gateway between an agent and its MCP servers. It is a server to the
// agent and a client to the servers, and it evaluates every tool call.
//
//	g, err := mcpgate.New(mcpgate.Options{
//		Gate: gate, Program: current, Pins: pins,
//		Servers: []mcpgate.Server{{Identity: "npx server-filesystem", Transport: mcpgate.Command(args, os.Environ(), "", os.Stderr)}},
//	})
//	...
//	err = g.ServeStdio(ctx, owner, os.Stdin, os.Stdout) // or g.Handler for streamable HTTP
//
// The gateway works on raw messages (internal/mcp/jsonrpc). Bytes that it does not change are
// forwarded unchanged, including unknown members. The arguments that a server receives are
// the gate's serialisation of the evaluated value.
//
//   - A tool runs only after the gate allowed exactly this call, and no failure releases a call (I14). Methods that end in "/call", batches and messages that two readers could understand differently are refused (G8).
//   - A tool whose definition changed is disabled until an operator accepts the new definition (G4).
//   - Servers request sampling, elicitation and roots only if a table of the policy allows it (G11).
//   - Request ids, progress tokens, subscriptions and sessions are the gateway's own towards every peer, so a client cannot use those of another one (CVE-2026-111770).
//
// The ends of the gateway are packages of internal/mcp: serve talks to clients, downstream keeps
// the requests of a client, upstream the connection to a server, merge combines several servers, and
// round continues a call with input of the client's user. Reading order: gateway.go, client.go,
// dispatch.go, call.go, conn.go, then approve.go and rounds.go.
package mcpgate
