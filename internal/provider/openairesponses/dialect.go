package openairesponses

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
)

// Dialect is the codec of the Responses API. It has no state.
type Dialect struct{}

var _ provider.Dialect = Dialect{}

// Name implements [provider.Dialect].
func (Dialect) Name() string { return "openai-responses" }

// Stream implements [provider.Dialect].
func (Dialect) Stream(r *provider.Request, sink provider.Sink, o provider.Options) provider.Stream {
	s := &stream{calls: newCalls(r, sink, o)}
	s.known = s.recognise
	return s
}

// Body implements [provider.Dialect].
func (Dialect) Body(r *provider.Request, sink provider.Sink, o provider.Options) provider.Body {
	return &body{calls: newCalls(r, sink, o)}
}

// ErrorBody implements [provider.Dialect].
func (Dialect) ErrorBody(_ int, code stopgate.Code, message string) []byte {
	return provider.AppendErrorObject(nil, code, message)
}
