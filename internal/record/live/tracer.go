package live

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// tracer writes the events of a gate into a stream.
type tracer struct{ s *Stream }

var (
	_ gate.Tracer     = tracer{}
	_ gate.NoteTracer = tracer{}
)

// Tracer returns a tracer for a gate. Every proposal and every event row becomes an event.
func (s *Stream) Tracer() gate.Tracer { return tracer{s} }

// Trace implements [gate.Tracer].
func (t tracer) Trace(_ context.Context, e gate.TraceEvent) {
	if e.Row == nil || e.Name == gate.TraceDenied { // the row contains the objections
		return
	}
	t.s.Write(Event{Time: e.Row.Time, Type: Decision, Took: e.Took.Seconds(), Asked: e.Asked.Seconds(), Record: e.Row})
}

// Note implements [gate.NoteTracer].
func (t tracer) Note(_ context.Context, r stopgate.Record) {
	t.s.Write(Event{Time: r.Time, Type: Type(r.Event), Record: &r})
}
