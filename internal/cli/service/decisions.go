package service

import (
	"context"
	"log/slog"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// decisionLog logs every decision at the level debug, and warns of the calls that session
// policies denied (TPS-35) and of sessions that were stopped after too many denials in a row
// (H22). It logs names as rows have them, never arguments.
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
	d.log.LogAttrs(ctx, level, e.Name, append(attrs, namesOf(e.Tool, e.Agent, e.Session)...)...)
}

// namesOf are the names that there are.
func namesOf(tool stopgate.ToolName, agent stopgate.AgentName, session stopgate.SessionID) (attrs []slog.Attr) {
	for _, name := range [][2]string{{"tool", string(tool)}, {"agent", string(agent)}, {"session", string(session)}} {
		if name[1] != "" {
			attrs = append(attrs, slog.String(name[0], name[1]))
		}
	}
	return attrs
}

// Note implements [gate.NoteTracer].
func (d decisionLog) Note(ctx context.Context, r stopgate.Record) {
	if r.Event != stopgate.AuditStopped {
		return
	}
	attrs := []slog.Attr{slog.Int64("denials", r.Count), slog.String("code", r.Cause)}
	d.log.LogAttrs(ctx, slog.LevelWarn, "session_stopped", append(attrs, namesOf(r.Tool, r.Agent, r.Session)...)...)
}
