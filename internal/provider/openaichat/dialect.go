package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
)

// Dialect is the codec of Chat Completions. It has no state.
type Dialect struct{}

var _ provider.Dialect = Dialect{}

// Routes are the routes of the API.
var Routes = []provider.Route{
	{Method: "POST", Path: "/v1/chat/completions", Kind: provider.Turn},
}

// Name implements [provider.Dialect].
func (Dialect) Name() string { return "openai-chat" }

// ErrorBody implements [provider.Dialect].
func (Dialect) ErrorBody(_ int, code stopgate.Code, message string) []byte {
	return provider.AppendErrorObject(nil, code, message)
}

// Stream implements [provider.Dialect].
func (Dialect) Stream(r *provider.Request, sink provider.Sink, o provider.Options) provider.Stream {
	return &stream{assembly: newAssembly(r, sink, o)}
}

// Body implements [provider.Dialect].
func (Dialect) Body(r *provider.Request, sink provider.Sink, o provider.Options) provider.Body {
	b := &body{assembly: newAssembly(r, sink, o)}
	b.complete = true
	return b
}
