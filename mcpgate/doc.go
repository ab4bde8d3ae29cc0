// Package mcpgate is the gate between an agent and its MCP servers: to the agent it
// is a server, to the servers a client, and every tool call passes the gate.
//
//	g, err := mcpgate.New(mcpgate.Options{
//		Gate: gate, Program: current, Pins: pins,
//		Servers: []mcpgate.Server{{Identity: "npx server-filesystem", Open: start}},
//	})
//	...
//	err = g.ServeStdio(ctx, owner, os.Stdin, os.Stdout) // or g.Handler for streamable HTTP
//
// It works on raw messages (wire/jsonrpc): a message is judged by its own bytes, what
// the gate does not change is forwarded as it came, unknown members included, and the
// arguments that reach a server are the gate's serialisation of those that were judged
// (WIRE 8). The types of an SDK would drop what they do not know, and would read
// before the gate does.
//
// What it promises:
//
//   - A tool runs only after the gate allowed exactly this call; nothing that fails
//     lets one through (INVARIANTS I14). Every other way to run something - a method
//     that ends in "/call", a batch, a message that two readers could understand
//     differently - is refused (THREATS G8).
//   - A tool is what it was when it was first seen, or when an operator accepted it:
//     a changed definition disables it (THREATS G4).
//   - Servers ask for samplings, inputs and roots only where the policy has a table
//     for that (THREATS G11).
//   - Ids of requests, progress tokens, subscriptions and sessions of one client mean
//     nothing to another one or to a server: the gate has its own (CVE-2026-111770).
package mcpgate
