package openairesponses

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/wire"
)

// Dialect is the codec of the Responses API. It has no state.
type Dialect struct{}

var _ wire.Dialect = Dialect{}

// Name implements [wire.Dialect].
func (Dialect) Name() string { return "openai-responses" }

// Stream implements [wire.Dialect].
func (Dialect) Stream(r *wire.Request, sink wire.Sink, o wire.Options) wire.Stream {
	s := &stream{calls: newCalls(r, sink, o)}
	s.known = s.recognise
	return s
}

// Body implements [wire.Dialect].
func (Dialect) Body(r *wire.Request, sink wire.Sink, o wire.Options) wire.Body {
	return &body{calls: newCalls(r, sink, o)}
}

// ErrorBody implements [wire.Dialect].
func (Dialect) ErrorBody(_ int, code stopgate.Code, message string) []byte {
	return wire.AppendErrorObject(nil, code, message)
}
