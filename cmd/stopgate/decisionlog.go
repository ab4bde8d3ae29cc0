package main

import (
	"context"
	"log/slog"

	"github.com/stopgate/stopgate/gate"
)

// decisionLog says every decision in the log, for who debugs, and warns of the calls
// that session policies denied (TPS-35). Names stand in it as they do in rows, never
// arguments.
type decisionLog struct{ log *slog.Logger }

// Trace implements [gate.Tracer].
func (d decisionLog) Trace(ctx context.Context, e gate.TraceEvent) {
	level, attrs := slog.LevelDebug, []slog.Attr{
		slog.String("decision", e.Decision), slog.String("code", string(e.Reason)), slog.String("id", string(e.ID)),
	}
	switch e.Name {
	case gate.TraceDenied:
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("policy", e.Policy))
	case gate.TraceHandoff:
		attrs = append(attrs, slog.String("to", string(e.Handoff)))
	}
	if !d.log.Enabled(ctx, level) {
		return
	}
	for _, name := range [][2]string{{"tool", string(e.Tool)}, {"agent", string(e.Agent)}, {"session", string(e.Session)}} {
		if name[1] != "" {
			attrs = append(attrs, slog.String(name[0], name[1]))
		}
	}
	d.log.LogAttrs(ctx, level, e.Name, attrs...)
}
