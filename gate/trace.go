package gate

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// The names of trace events (G2-16, TPS-34).
const (
	TraceTool    = "tool_policy_evaluated"
	TraceHandoff = "handoff_policy_evaluated"
	TraceDenied  = "policy_denied" // one for each objection of a session policy
)

// TraceEvent is what a tracer is told about a proposal, once it is decided and on
// record (G2-17). It holds no raw secret: arguments are there only where the gate
// was told how to redact them, and reasons are codes (G2-19).
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
	// Metadata: layer, rule, and what the policies that were asked said.
	Metadata map[string]string
	// Args are the arguments with the values of the redacted pointers replaced; ""
	// unless [WithTracer] was given pointers.
	Args string
	// Answer is what people said, a no as well, and Via where it came from; nil and ""
	// if nobody answered.
	Answer *stopgate.Approval
	Via    string
	// Partial says that the proposal ended before its arguments were complete.
	Partial bool
	// Judge is what a model said about the call, nil if none was asked.
	Judge *stopgate.Review
	// Took is the time from the opening of the proposal to its end; Asked, the part of
	// it in which people were asked, 0 if nobody was.
	Took, Asked time.Duration
	// Decided is the time from the last byte of a call to its end, without that in which
	// people were asked: rules, judges, stores and the record.
	Decided time.Duration
	// Row is the audit row without its place in the chain. It is shared: read it only.
	Row *stopgate.Record
}

// Tracer is told of every proposal. It is telemetry: it decides nothing, what it
// returns or how it fails changes nothing, and it is given no longer than a policy.
type Tracer interface {
	Trace(ctx context.Context, e TraceEvent)
}

// NoteTracer is a [Tracer] that is told of event rows too: questions, answers, results,
// reloads and the rest of what is on record beside the proposals. What holds of Trace
// holds of Note.
type NoteTracer interface {
	Tracer
	Note(ctx context.Context, r stopgate.Record)
}

// Tracers is a tracer that tells several, in their order.
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

// opinion is what one policy in Go said.
type opinion struct {
	policy   string
	decision Decision
}

// traceOutcome tells the tracer how the proposal ended.
func (p *pending) traceOutcome(ctx context.Context, out *stopgate.Outcome, row *stopgate.Record) {
	t := p.g.tracer
	if t == nil {
		return
	}
	p.mu.Lock()
	e := TraceEvent{
		Name: TraceTool, ID: p.id, Session: row.Session, Turn: row.Turn, Agent: row.Agent, Tool: row.Tool, Handoff: p.to,
		CallID: row.CallID, Surface: row.Surface, Took: time.Since(p.opened), Decision: out.Status.String(), Reason: out.Verdict.Code, Policy: row.Policy,
		Warning: out.Status == stopgate.Denied, Metadata: map[string]string{"layer": string(out.Verdict.Layer), "mode": out.Verdict.Mode.String()},
	}
	if row.Status == stopgate.StatusEdited {
		e.Decision, e.Warning = string(row.Status), false
	}
	if e.Decided = time.Since(p.complete); p.complete.IsZero() {
		e.Decided = 0 // it was refused before its end
	}
	if q := p.prompt; q != nil {
		e.Asked = q.took
		if from := q.began; from.Before(p.complete) { // asked while the call still came
			e.Decided -= max(0, q.took-p.complete.Sub(from))
		} else {
			e.Decided -= q.took
		}
		e.Decided = max(0, e.Decided)
		e.Answer, e.Via = q.approval()
	}
	e.Partial = !p.ended
	if p.kind == Handoff {
		e.Name, e.Tool = TraceHandoff, ""
	}
	for _, o := range p.opinions {
		e.Metadata["policy "+o.policy] = string(o.decision.Reason)
		for k, v := range o.decision.Metadata {
			e.Metadata[o.policy+"."+k] = v
		}
	}
	e.Args, e.Judge = p.redacted, p.judged
	seen := *row
	seen.Args = nil
	e.Row = &seen
	events := []TraceEvent{e}
	for _, d := range p.decisions {
		denied := e
		denied.Name, denied.Policy, denied.Reason, denied.Warning, denied.Args = TraceDenied, d.Policy, d.Code, true, ""
		denied.Metadata = d.Meta
		events = append(events, denied)
	}
	p.mu.Unlock()
	for _, e := range events {
		invoke(context.WithoutCancel(ctx), &p.g.ports.tracer, p.g.limits.Policy, func(ctx context.Context) (struct{}, error) {
			t.to.Trace(ctx, e)
			return struct{}{}, nil
		})
	}
}

// notifyTracer tells the tracer about an event row.
func (g *Gate) notifyTracer(ctx context.Context, r stopgate.Record) {
	if g.tracer == nil {
		return
	}
	t, ok := g.tracer.to.(NoteTracer)
	if !ok {
		return
	}
	invoke(context.WithoutCancel(ctx), &g.ports.tracer, g.limits.Policy, func(ctx context.Context) (struct{}, error) {
		t.Note(ctx, r)
		return struct{}{}, nil
	})
}

// show is the arguments as a tracer may see them.
func (t *tracing) show(root jsonstream.Value) string {
	if t == nil || t.hide == nil || !root.IsValid() {
		return ""
	}
	return string(t.hide.Append(nil, root))
}
