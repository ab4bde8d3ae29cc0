package openairesponses

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
)

// Dialect is the codec of the Responses API. It has no state.
type Dialect struct{}

var _ provider.Dialect = Dialect{}

// Routes are the routes of the API.
var Routes = []provider.Route{
	{Method: "POST", Path: "/v1/responses", Kind: provider.Turn},
	{Method: "POST", Path: "/v1/responses/input_tokens", Kind: provider.Counted},
	{Method: "POST", Path: "/v1/responses/compact", Kind: provider.Counted},
}

// Name implements [provider.Dialect].
func (Dialect) Name() string { return "openai-responses" }

// Stream implements [provider.Dialect].
func (Dialect) Stream(r *provider.Request, sink provider.Sink, o provider.Options) provider.Stream {
	s := &stream{calls: newCalls(r, sink, o)}
	s.maxBytes = s.o.MaxBytes
	s.known = s.recognise
	return s
}

// Body implements [provider.Dialect].
func (Dialect) Body(r *provider.Request, sink provider.Sink, o provider.Options) provider.Body {
	b := &body{calls: newCalls(r, sink, o)}
	b.whole = true
	return b
}

// ErrorBody implements [provider.Dialect].
func (Dialect) ErrorBody(_ int, code stopgate.Code, message string) []byte {
	return provider.AppendErrorObject(nil, code, message)
}
