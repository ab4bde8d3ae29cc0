package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/wire"
)

// Dialect is the codec of Chat Completions. It has no state.
type Dialect struct{}

var _ wire.Dialect = Dialect{}

// Name implements [wire.Dialect].
func (Dialect) Name() string { return "openai-chat" }

// ErrorBody implements [wire.Dialect].
func (Dialect) ErrorBody(_ int, code stopgate.Code, message string) []byte {
	return wire.AppendErrorObject(nil, code, message)
}

// Stream implements [wire.Dialect].
func (Dialect) Stream(r *wire.Request, sink wire.Sink, o wire.Options) wire.Stream {
	return &stream{assembly: newAssembly(r, sink, o)}
}

// Body implements [wire.Dialect].
func (Dialect) Body(r *wire.Request, sink wire.Sink, o wire.Options) wire.Body {
	b := &body{assembly: newAssembly(r, sink, o)}
	b.complete = true
	return b
}
