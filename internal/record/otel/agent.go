package otel

import (
	"context"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/agent"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// agentName is the name of the terminal agent in its spans.
const agentName = "stopgate"

// Message implements [agent.Observer]: the message of a person is a span, and the work for it is in
// child spans.
func (t *Tracer) Message(ctx context.Context, m *agent.Message) (context.Context, func()) {
	list := append([]attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", agentName), attribute.String("gen_ai.request.model", m.Model),
	}, conversation(m.Session)...)
	ctx, span := t.tracer.Start(ctx, "invoke_agent "+agentName, trace.WithTimestamp(m.Began), trace.WithAttributes(list...))
	return ctx, func() {
		if m.Failure != "" {
			fail(span, m.Failure)
		}
		span.End(trace.WithTimestamp(m.Ended))
	}
}

// Model implements [agent.Observer].
func (t *Tracer) Model(ctx context.Context, m *agent.ModelCall) (context.Context, func()) {
	dialect := string(m.API)
	list := append(asked((&gateway.Observed{Dialect: dialect, Address: m.Address}).Provider(), m.Model, m.Address), conversation(m.Session)...)
	ctx, span := t.tracer.Start(ctx, "chat "+m.Model, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(m.Began), trace.WithAttributes(list...))
	var copied *content
	if t.o.Content && span.IsRecording() {
		copied = &content{asked: m.Body}
		m.Copy = &copied.answer
	}
	return ctx, func() {
		list := append(answered(&gateway.Answer{ID: m.Answer.ID, Model: m.Answer.Model, FinishReasons: m.Answer.FinishReasons, Tokens: gateway.Tokens(m.Answer.Tokens)}), attribute.Bool("gen_ai.request.stream", true), attribute.Bool("stopgate.upstream.cancelled", m.Stopped))
		if !m.First.IsZero() {
			list = append(list, attribute.Float64("gen_ai.response.time_to_first_chunk", seconds(m.First.Sub(m.Began))))
		}
		span.SetAttributes(append(list, apiType(dialect)...)...)
		span.SetAttributes(t.messages(dialect, copied, true)...)
		if m.Failure != "" {
			fail(span, m.Failure)
		}
		span.End(trace.WithTimestamp(m.Ended))
	}
}

// Tool implements [agent.Observer]. The span of a tool of an MCP server has the attributes of MCP,
// too, because it has no other span.
func (t *Tracer) Tool(ctx context.Context, c *agent.ToolCall) (context.Context, func()) {
	list := append([]attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", string(c.Tool)), attribute.String("gen_ai.tool.type", "function"),
		attribute.String("gen_ai.agent.name", agentName),
	}, conversation(c.Session)...)
	list = appendText(list, "gen_ai.tool.call.id", string(c.ID))
	if c.Server != "" {
		list = append(list, attribute.String("mcp.method.name", "tools/call"), attribute.String("stopgate.server", string(c.Server)))
		list = appendText(list, "network.transport", c.Transport)
	}
	ctx, span := t.tracer.Start(ctx, "execute_tool "+string(c.Tool), trace.WithTimestamp(c.Began), trace.WithAttributes(list...))
	return ctx, func() {
		if t.o.Content {
			span.SetAttributes(appendText(nil, "gen_ai.tool.call.arguments", t.show([]byte(c.Arguments)))...)
		}
		switch {
		case c.Failed:
			fail(span, "tool_error")
		case t.o.Content:
			span.SetAttributes(appendText(nil, "gen_ai.tool.call.result", t.showText(c.Result))...)
		}
		span.End(trace.WithTimestamp(c.Ended))
	}
}
