// Package jsonrpc reads and rewrites the JSON-RPC 2.0 messages of the Model
// Context Protocol, byte for byte.
//
//	m, err := jsonrpc.Read(line)
//	if err != nil {
//		reply(jsonrpc.AppendError(nil, err.(*jsonrpc.Error).ID, jsonrpc.InvalidRequest, "..."))
//	}
//	name, ok := m.Params.Get("name")
//	text, err := m.Edit().ID("17").Text()
//
// What it promises (WIRE 8.2, THREATS G8):
//
//   - A message is one object of strict JSON: no member twice at any depth, no batch,
//     "jsonrpc" is "2.0", the id is a string or an integer, and it is exactly one of
//     request, notification, result and error.
//   - A member whose name a lenient reader could take for one of the protocol's
//     ("Method", "name\u0000", "parａms") is refused, so that whoever reads the message
//     next reads what was judged (CVE-2026-27896 and its successors).
//   - What is not changed is forwarded as it came, unknown members included: changes
//     are splices of the text.
package jsonrpc
