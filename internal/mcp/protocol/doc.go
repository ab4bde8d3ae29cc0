// Package protocol reads the parts of MCP messages that a gateway needs: the protocol revision, the
// capabilities of a client, the trace context and the name that headers mirror.
//
//	meta := protocol.ReadMeta(m.Params)
//	if meta.Version >= protocol.Modern { // the revision without sessions
//		...
//	}
package protocol
