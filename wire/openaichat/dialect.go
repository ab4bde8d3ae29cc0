package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// Dialect is the codec. It has no state.
type Dialect struct{}

var _ wire.Dialect = Dialect{}

// Name implements [wire.Dialect].
func (Dialect) Name() string { return "openai-chat" }

// ErrorBody implements [wire.Dialect] (WIRE 2.7).
func (Dialect) ErrorBody(_ int, code stopgate.Code, message string) []byte {
	return appendError(nil, code, message)
}

// appendError appends the error object that every client of this dialect raises
// on, in a body and in a stream.
func appendError(dst []byte, code stopgate.Code, message string) []byte {
	if message == "" {
		message = code.Public()
	}
	dst = append(dst, `{"error":{"message":`...)
	dst = jsonstream.AppendQuote(dst, message)
	dst = append(dst, `,"type":"stopgate_error","param":null,"code":`...)
	dst = jsonstream.AppendQuote(dst, string(code))
	return append(dst, "}}"...)
}

// Stream implements [wire.Dialect].
func (Dialect) Stream(r *wire.Request, sink wire.Sink, o wire.Options) wire.Stream {
	return &stream{assembly: newAssembly(r, sink, o)}
}

// Body implements [wire.Dialect].
func (Dialect) Body(r *wire.Request, sink wire.Sink, o wire.Options) wire.Body {
	return &body{assembly: newAssembly(r, sink, o)}
}
