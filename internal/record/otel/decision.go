package otel

import (
	"context"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Trace implements [gate.Tracer]: it writes a span for the proposal, as a child of the span of its
// exchange if there is one.
func (t *Tracer) Trace(ctx context.Context, e gate.TraceEvent) {
	if e.Row == nil || e.Name == gate.TraceDenied {
		return
	}
	name := "stopgate.decide " + string(e.Row.Tool)
	if e.Name == gate.TraceHandoff {
		name = "stopgate.handoff " + string(e.Handoff)
	}
	now := time.Now()
	parent := trace.SpanFromContext(ctx)
	inner, span := t.tracer.Start(ctx, name, trace.WithTimestamp(now.Add(-e.Took)), trace.WithAttributes(t.decision(&e)...))
	if e.Asked > 0 {
		_, asked := t.tracer.Start(inner, "stopgate.approve", trace.WithTimestamp(now.Add(-e.Asked)), trace.WithAttributes(approval(&e)...))
		asked.End(trace.WithTimestamp(now))
	}
	if r := e.Judge; r != nil && !r.Cached {
		_, judge := t.tracer.Start(inner, "chat "+r.Model, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithTimestamp(now.Add(-time.Duration(r.Millis)*time.Millisecond)), trace.WithAttributes(judged(r)...))
		if r.Fault != "" {
			judge.SetStatus(codes.Error, r.Fault)
			judge.SetAttributes(attribute.String("error.type", r.Fault))
		}
		judge.End(trace.WithTimestamp(now))
	}
	if e.Row.Layer == stopgate.LayerFailure && e.Warning {
		span.SetStatus(codes.Error, string(e.Reason))
		span.SetAttributes(attribute.String("error.type", string(e.Reason)))
	}
	span.End(trace.WithTimestamp(now))
	if !parent.IsRecording() {
		return
	}
	tool := appendText([]attribute.KeyValue{attribute.String("gen_ai.tool.name", string(e.Row.Tool)), attribute.String("gen_ai.tool.type", toolType(e.Row))},
		"gen_ai.tool.call.id", string(e.Row.CallID))
	switch {
	case e.Warning:
		denied := appendText(append(tool, attribute.String("stopgate.code", string(e.Reason))), "stopgate.rule", ruleOf(e.Row))
		parent.AddEvent("stopgate.denied", trace.WithTimestamp(now), trace.WithAttributes(denied...))
	case e.Name == gate.TraceTool && e.Decision == "allowed" && e.Row.Surface == stopgate.SurfaceGateway:
		// The client runs the call: an event, because its span is not recorded here.
		parent.AddEvent("execute_tool", trace.WithTimestamp(now), trace.WithAttributes(append(tool, attribute.String("gen_ai.operation.name", "execute_tool"))...))
	}
}

// judged returns the attributes of a request to a judge.
func judged(r *stopgate.Review) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.Bool("stopgate.judge", true), attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", r.Model),
		attribute.String("stopgate.mode", r.Mode.String()),
	}
	if r.API == "" {
		return list // a judge in Go: its model is unknown
	}
	list = append(list, attribute.String("gen_ai.provider.name", (&gateway.Observed{Dialect: r.API, Address: r.Address}).Provider()))
	return append(list, server(r.Address)...)
}

// toolType distinguishes functions of the request from tools of the provider.
func toolType(r *stopgate.Record) string {
	if strings.Contains(string(r.Tool), ".") { // openai.shell and the like
		return "extension"
	}
	return "function"
}

// provisional reports whether the call ended before its arguments were complete, and not by a
// verdict: the verdict of the rules is then not final (D26).
func provisional(e *gate.TraceEvent) bool {
	return e.Partial && (e.Row.Layer == stopgate.LayerIntegrity || e.Row.Layer == stopgate.LayerFailure)
}

// decision returns the attributes of a proposal.
func (t *Tracer) decision(e *gate.TraceEvent) []attribute.KeyValue {
	r := e.Row
	list := []attribute.KeyValue{
		attribute.String("gen_ai.tool.name", string(r.Tool)), attribute.String("gen_ai.tool.type", toolType(r)),
		attribute.String("stopgate.decision", e.Decision), attribute.String("stopgate.mode", e.Metadata["mode"]),
		attribute.String("stopgate.code", string(e.Reason)), attribute.String("stopgate.layer", e.Metadata["layer"]),
		attribute.String("stopgate.policy.hash", r.Policy), attribute.String("stopgate.surface", string(r.Surface)),
		attribute.Int64("stopgate.args.bytes", r.ArgsBytes), attribute.String("stopgate.proposal.id", string(r.ID)),
		attribute.Bool("stopgate.provisional", provisional(e)),
	}
	if r.DecidedAt != nil {
		list = append(list, attribute.Int64("stopgate.decided_at_byte", *r.DecidedAt), attribute.Bool("stopgate.early", *r.DecidedAt < r.ArgsBytes))
	}
	if r.Enforced != nil && !*r.Enforced {
		list = append(list, attribute.Bool("stopgate.enforced", false))
	}
	list = appendText(list, "gen_ai.tool.call.id", string(r.CallID))
	list = appendText(list, "gen_ai.agent.name", string(r.Agent))
	list = appendText(list, "stopgate.rule", ruleOf(r))
	list = appendText(list, "stopgate.pointer", r.Pointer)
	if t.o.Content {
		list = appendText(list, "gen_ai.tool.call.arguments", t.show([]byte(e.Args)))
	}
	return list
}

// approval returns the attributes of the time spent on questions.
func approval(e *gate.TraceEvent) []attribute.KeyValue {
	result := "denied"
	list := appendText([]attribute.KeyValue{attribute.String("stopgate.surface", string(e.Row.Surface))}, "stopgate.approval.channel", e.Via)
	answer := e.Answer
	if a := e.Row.Approval; a != nil {
		if result = "approved"; a.Edited {
			result = "edited"
		}
		answer = a
	}
	if answer != nil {
		list = appendText(list, "stopgate.approval.id", answer.ID)
		list = appendText(list, "stopgate.approval.by", answer.By)
	}
	return append(list, attribute.String("stopgate.approval.result", result))
}

// ruleOf returns the id of the rule that decided, which is stable when the rule moves in its file.
func ruleOf(r *stopgate.Record) string {
	if r.Rule == nil {
		return ""
	}
	return string(r.Rule.ID)
}
