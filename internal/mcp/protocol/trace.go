package protocol

import (
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// SetTrace sets the trace context in the params of a message. Params that are not an object, or
// whose _meta is not one, stay as they are.
func SetTrace(e *jsonrpc.Edits, params jsonstream.Value, traceparent, tracestate string) {
	if params.Kind() != jsonstream.Object {
		return
	}
	meta, ok := params.Get("_meta")
	switch {
	case !ok:
		var o jsonrpc.Object
		e.Add(params, "_meta", o.Text("traceparent", traceparent).Optional("tracestate", tracestate).End())
		return
	case meta.Kind() != jsonstream.Object:
		return
	}
	e.Set(meta, "traceparent", jsonstream.AppendQuote(nil, traceparent))
	if tracestate != "" {
		e.Set(meta, "tracestate", jsonstream.AppendQuote(nil, tracestate))
		return
	}
	e.Remove(meta, func(name string) bool { return name == "tracestate" })
}
