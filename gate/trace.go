package gate

import (
	"context"
	"maps"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/jsonstream"
)

// The names of trace events (G2-16, TPS-34).
const (
	TraceTool    = "tool_policy_evaluated"
	TraceHandoff = "handoff_policy_evaluated"
	TraceDenied  = "policy_denied" // one for each objection of a session policy
)

// TraceEvent describes a proposal for a tracer, after it was decided and recorded (G2-17). It
// holds no raw secret: it has arguments only if the gate was configured to redact them, and
// reasons are codes (G2-19).
type TraceEvent struct {
	Name    string
	ID      stopgate.ProposalID
	Session stopgate.SessionID
	Turn    stopgate.TurnID
	Agent   stopgate.AgentName
	Tool    stopgate.ToolName  // "" for a handoff
	Handoff stopgate.AgentName // the receiving agent
	CallID  stopgate.CallID
	Surface stopgate.Surface
	// Decision is allowed, denied or skipped; or edited, of a proposal that a person
	// edited: the one that took its place has an event of its own.
	Decision string
	Reason   stopgate.Code
	Policy   string // the hash of the policy; of TraceDenied the session policy's name
	Warning  bool   // a denial (TPS-35)
	// Metadata has the layer, the mode, and the reasons and metadata of the policies.
	Metadata map[string]string
	// Args are the arguments with the values of the redacted pointers replaced; ""
	// unless [WithTracer] was given pointers.
	Args string
	// Answer is the answer of an approver, also if it declined, and Via its channel; nil
	// and "" without an answer.
	Answer *stopgate.Approval
	Via    string
	// Partial reports that the proposal ended before its arguments were complete.
	Partial bool
	// Judge is the review of the call by a model, nil without one.
	Judge *stopgate.Review
	// Took is the time from the opening of the proposal to its end. Asked is the part of
	// it in which a question was open.
	Took, Asked time.Duration
	// Decided is the time from the last byte of a call to its end without Asked: the time
	// of rules, judges, stores and the record.
	Decided time.Duration
	// Row is the audit row without its fields of the chain. It is shared: read it only.
	Row *stopgate.Record
}

// Tracer receives an event for every proposal. It is telemetry: its failure changes no
// decision, and its deadline is that of a tool policy.
type Tracer interface {
	Trace(ctx context.Context, e TraceEvent)
}

// NoteTracer is a [Tracer] that also receives event rows: questions, answers, results, reloads
// and the other rows that are not about a proposal's decision. Note is called like Trace.
type NoteTracer interface {
	Tracer
	Note(ctx context.Context, r stopgate.Record)
}

// Tracers returns a tracer that calls several tracers in order.
func Tracers(list ...Tracer) Tracer { return several(list) }

type several []Tracer

// Trace implements [Tracer].
func (s several) Trace(ctx context.Context, e TraceEvent) {
	for _, t := range s {
		t.Trace(ctx, e)
	}
}

// Note implements [NoteTracer].
func (s several) Note(ctx context.Context, r stopgate.Record) {
	for _, t := range s {
		if n, ok := t.(NoteTracer); ok {
			n.Note(ctx, r)
		}
	}
}

type tracing struct {
	to   Tracer
	hide Hidden // nil: arguments are not shown at all
}

// WithTracer adds a tracer. With pointers events carry the arguments, without the
// values that the pointers name, see [Hide].
func WithTracer(t Tracer, redact ...string) Option {
	return func(c *config) {
		c.tracer = &tracing{to: t, hide: Hide(redact...)}
	}
}

// trace sends the outcome of the proposal to the tracer.
func (c *commitment) trace(ctx context.Context) {
	p, row := c.p, c.row
	t := p.g.tracer
	if t == nil {
		return
	}
	p.mu.Lock()
	out := &p.out
	e := TraceEvent{
		Name: TraceTool, ID: p.id, Session: row.Session, Turn: row.Turn, Agent: row.Agent, Tool: row.Tool, Handoff: p.handoff.to,
		CallID: row.CallID, Surface: row.Surface, Took: time.Since(p.opened), Decision: out.Status.String(), Reason: out.Verdict.Code, Policy: row.Policy,
		Warning: out.Status == stopgate.Denied, Metadata: map[string]string{"layer": string(out.Verdict.Layer), "mode": out.Verdict.Mode.String()},
	}
	if row.Status == stopgate.StatusEdited {
		e.Decision, e.Warning = string(row.Status), false
	}
	if e.Decided = time.Since(p.args.complete); p.args.complete.IsZero() {
		e.Decided = 0 // it was refused before its end
	}
	if q := p.approval.prompt; q != nil {
		e.Asked = q.took
		if from := q.began; from.Before(p.args.complete) { // asked while the call still came
			e.Decided -= max(0, q.took-p.args.complete.Sub(from))
		} else {
			e.Decided -= q.took
		}
		e.Decided = max(0, e.Decided)
		e.Answer, e.Via = q.approval()
	}
	e.Partial = !p.args.ended
	if p.kind == Handoff {
		e.Name, e.Tool = TraceHandoff, ""
	}
	for _, o := range p.gates.opinions {
		e.Metadata["policy "+o.policy] = string(o.decision.Reason)
		for k, v := range o.decision.Metadata {
			e.Metadata[o.policy+"."+k] = v
		}
	}
	e.Args, e.Judge = c.shown, p.judges.review
	seen := *row
	seen.Args = nil
	e.Row = &seen
	events := []TraceEvent{e}
	for _, d := range p.sessions.decisions {
		denied := e
		denied.Name, denied.Policy, denied.Reason, denied.Warning, denied.Args = TraceDenied, d.Policy, d.Code, true, ""
		if denied.Metadata = d.Meta; d.Ask {
			denied.Warning = out.Status == stopgate.Denied
			denied.Metadata = maps.Clone(d.Meta)
			if denied.Metadata == nil {
				denied.Metadata = map[string]string{}
			}
			denied.Metadata["mode"] = stopgate.Ask.String()
		}
		events = append(events, denied)
	}
	p.mu.Unlock()
	for _, e := range events {
		port.Invoke(context.WithoutCancel(ctx), &p.g.guards.tracer, p.g.limits.Policy, func(ctx context.Context) (struct{}, error) {
			t.to.Trace(ctx, e)
			return struct{}{}, nil
		})
	}
}

// notifyTracer sends an event row to the tracer.
func (g *Gate) notifyTracer(ctx context.Context, r stopgate.Record) {
	if g.tracer == nil {
		return
	}
	t, ok := g.tracer.to.(NoteTracer)
	if !ok {
		return
	}
	port.Invoke(context.WithoutCancel(ctx), &g.guards.tracer, g.limits.Policy, func(ctx context.Context) (struct{}, error) {
		t.Note(ctx, r)
		return struct{}{}, nil
	})
}

// show returns the arguments without hidden values, for the tracer.
func (t *tracing) show(root jsonstream.Value) string {
	if t == nil || t.hide == nil || !root.IsValid() {
		return ""
	}
	return string(t.hide.Append(nil, root))
}
