package otel

import (
	"context"

	"github.com/stopgate/stopgate/mcpgate"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Request implements [mcpgate.Observer]: the request of a client is a server span, the one to a
// server a client span below it. The trace is sent to servers if the client named one or Propagate
// is set.
func (t *Tracer) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
	kind, name := trace.SpanKindServer, o.Method
	if o.Outgoing {
		kind = trace.SpanKindClient
	} else if o.Traceparent != "" {
		ctx = t.w3c.Extract(ctx, propagation.MapCarrier{"traceparent": o.Traceparent, "tracestate": o.Tracestate})
	}
	list := []attribute.KeyValue{attribute.String("mcp.method.name", o.Method)}
	switch {
	case o.Tool != "":
		name += " " + string(o.Tool)
		list = append(list, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", string(o.Tool)))
	case o.Prompt != "":
		name += " " + o.Prompt
		list = append(list, attribute.String("gen_ai.prompt.name", o.Prompt))
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithTimestamp(o.Began), trace.WithAttributes(list...))
	if o.Outgoing && (o.Traced || t.o.Propagate) {
		carrier := propagation.MapCarrier{}
		t.w3c.Inject(ctx, carrier)
		o.Traceparent, o.Tracestate = carrier["traceparent"], carrier["tracestate"]
	}
	return ctx, func() {
		span.SetAttributes(t.mcp(o)...)
		if o.Failure != "" {
			fail(span, o.Failure)
		}
		span.End(trace.WithTimestamp(o.Ended))
	}
}

// mcp returns the attributes of a finished request.
func (t *Tracer) mcp(o *mcpgate.Observed) (list []attribute.KeyValue) {
	list = appendText(list, "mcp.protocol.version", o.Version)
	list = appendText(list, "jsonrpc.request.id", o.ID)
	list = appendText(list, "rpc.response.status_code", o.Code)
	list = appendText(list, "network.transport", o.Transport)
	list = appendText(list, "network.protocol.name", o.Protocol)
	list = appendText(list, "stopgate.server", o.Server)
	if o.Session != "" {
		list = append(list, attribute.String("mcp.session.id", hashed(o.Session))) // hashed because the id grants access to the session
	}
	if o.Outgoing && o.Address != "" {
		list = append(list, server(o.Address)...)
	}
	if !t.o.Content {
		return list
	}
	list = appendText(list, "mcp.resource.uri", o.Resource)
	list = appendText(list, "gen_ai.tool.call.arguments", t.show(o.Arguments))
	if o.Failure == "" {
		list = appendText(list, "gen_ai.tool.call.result", t.show(o.Result))
	}
	return list
}
