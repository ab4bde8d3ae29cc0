package otel

import (
	"context"

	"github.com/stopgate/stopgate/mcpgate"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Request implements [mcpgate.Observer]: a client's request is a server span, one to a
// server a client span in it (WIRE 10.1).
func (t *Tracer) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
	kind, name := trace.SpanKindServer, o.Method
	if o.Outgoing {
		kind = trace.SpanKindClient
	}
	if o.Tool != "" {
		name += " " + string(o.Tool)
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithTimestamp(o.Began), trace.WithAttributes(attribute.String("mcp.method.name", o.Method)))
	return ctx, func() {
		list := appendText(nil, "mcp.protocol.version", o.Version)
		list = appendText(list, "jsonrpc.request.id", o.ID)
		list = appendText(list, "gen_ai.tool.name", string(o.Tool))
		list = appendText(list, "server.address", o.Server)
		if o.Method == "tools/call" {
			list = append(list, attribute.String("gen_ai.operation.name", "execute_tool"))
		}
		span.SetAttributes(list...)
		if o.Failure != "" {
			fail(span, o.Failure)
		}
		span.End(trace.WithTimestamp(o.Ended))
	}
}
