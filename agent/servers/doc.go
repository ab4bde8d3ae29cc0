// Package servers gives the terminal agent the tools of MCP servers.
//
//	set, err := servers.New(servers.Options{
//		Servers: []servers.Server{{ID: "files", Identity: "files-5f1c02aa", Open: start}},
//		Pins:    pins,
//	})
//	defer set.Close()
//	runner := agent.Join(own, set) // its tools are files__read_file, files__write_file, ...
//
// The servers are started at once and side by side; the first question to the model
// waits for them. A server that dies is started again, after a pause that grows, when
// it is needed next.
//
// What it promises:
//
//   - A tool is what it was when it was first seen, or when an operator accepted it: a
//     changed definition is refused until then (THREATS G4), also while the agent runs.
//   - What a definition hides from people the model sees as escapes (THREATS G6).
//   - A server gets nothing but tools/list, tools/call and ping: what it asks of the
//     client, such as samplings, inputs and roots, is not there (THREATS G11).
//   - A server that hangs, dies, writes what is no message or answers too much fails
//     the call, and the result says so; a call is never sent twice.
//   - The text of a result is the server's own; what cannot be shown to a model as text
//     is named instead.
package servers
