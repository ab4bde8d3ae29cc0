// Package jsonrpc parses and rewrites the JSON-RPC 2.0 messages of the Model Context
// Protocol, byte for byte.
//
//	m, err := jsonrpc.Read(line)
//	if err != nil {
//		reply(jsonrpc.AppendError(nil, err.(*jsonrpc.Error).ID, jsonrpc.InvalidRequest, "..."))
//	}
//	name, ok := m.Params.Get("name")
//	text, err := m.Edit().ID("17").Text()
//
// It guarantees:
//
//   - A message is one object of strict JSON: no repeated member at any depth, no batch, "jsonrpc" is "2.0", the id is a string or an integer, and the message is exactly one of request, notification, result and error.
//   - A member with a name that a lenient reader could confuse with one of the protocol ("Method", "name\u0000", "parａms") is refused, so that the next reader finds the values that were evaluated (G8; CVE-2026-27896 and its successors).
//   - Unchanged parts are forwarded byte for byte, unknown members included: changes are splices of the text.
package jsonrpc
