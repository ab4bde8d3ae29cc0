package serve

import "github.com/stopgate/stopgate/internal/mcp/jsonrpc"

// Reply is the response to a request.
type Reply struct {
	Text   []byte // empty: no body
	Status int    // HTTP status, 0 for 200
	Stream bool   // respond with a stream, as the server did
}

// Refuse returns an error response of the gateway.
func Refuse(id jsonrpc.ID, code int, message string) Reply {
	return Reply{Text: jsonrpc.AppendError(nil, id, code, message, nil), Status: statusOf(code)}
}

// refused is the reply to a request that Begin refuses.
func refused(id jsonrpc.ID) Reply {
	return Refuse(id, jsonrpc.InvalidRequest, "this id belongs to an open request, or too many requests are open")
}

// statusOf returns the HTTP status for the gateway's own JSON-RPC errors.
func statusOf(code int) int {
	switch code {
	case jsonrpc.ParseError, jsonrpc.InvalidRequest, jsonrpc.HeaderMismatch, jsonrpc.UnsupportedVersion:
		return 400
	case jsonrpc.MethodNotFound:
		return 404 // in the revision without sessions only: see stream.Responder.Finish
	}
	return 200
}
