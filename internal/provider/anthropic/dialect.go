package anthropic

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// Dialect is the codec of Anthropic Messages. It has no state.
type Dialect struct{}

var _ provider.Dialect = Dialect{}

// Routes are the routes of the API.
var Routes = []provider.Route{
	{Method: "POST", Path: "/v1/messages", Kind: provider.Turn},
	{Method: "POST", Path: "/v1/messages/count_tokens", Kind: provider.Counted},
}

// Name implements [provider.Dialect].
func (Dialect) Name() string { return "anthropic" }

// Stream implements [provider.Dialect].
func (Dialect) Stream(r *provider.Request, sink provider.Sink, o provider.Options) provider.Stream {
	return &stream{calls: newCalls(r, sink, o)}
}

// Body implements [provider.Dialect].
func (Dialect) Body(r *provider.Request, sink provider.Sink, o provider.Options) provider.Body {
	return &body{calls: newCalls(r, sink, o)}
}

// ErrorBody implements [provider.Dialect].
func (Dialect) ErrorBody(status int, code stopgate.Code, message string) []byte {
	typ := "api_error"
	switch status {
	case 400, 415, 422:
		typ = "invalid_request_error"
	case 401:
		typ = "authentication_error"
	case 403:
		typ = "permission_error"
	case 404, 405:
		typ = "not_found_error"
	case 413:
		typ = "request_too_large"
	case 503, 529:
		typ = "overloaded_error"
	}
	return appendError(nil, typ, code, message)
}

// appendError appends the error object, for a body and for a stream. The message contains
// the code, because the object has no member for it.
func appendError(dst []byte, typ string, code stopgate.Code, message string) []byte {
	if message == "" {
		message = code.Public()
	}
	dst = append(dst, `{"type":"error","error":{"type":`...)
	dst = jsonstream.AppendQuote(dst, typ)
	dst = append(dst, `,"message":`...)
	dst = jsonstream.AppendQuote(dst, "[stopgate] "+message+" ("+string(code)+")")
	return append(dst, "}}"...)
}
