package trial

import (
	"context"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/session"
)

// Decider is a gate without records that decides calls up to the point where a person is asked
// (K30).
type Decider struct {
	Gate    *gate.Gate
	Program *policy.Program
	said    *objectionTracer // the objections to the latest call
}

// NewDecider makes a decider of a policy: program, or program with other texts. Its sessions are in
// the store.
func NewDecider(of gate.Policy, program *policy.Program, store gate.Store, more ...gate.Option) (Decider, error) {
	said := new(objectionTracer)
	g, err := NewGate(of, store, approveRecorded{}, append(more, gate.WithTracer(said))...)
	return Decider{g, program, said}, err
}

// objectionTracer collects the objections of session policies to the calls of one gate, and the
// fault of their arguments.
type objectionTracer struct {
	mu    sync.Mutex
	list  []Objection
	cause string
}

// Objection is one session policy's.
type Objection struct {
	Policy string        `json:"policy"`
	Code   stopgate.Code `json:"code"`
	// Meta names the missing facts and how to satisfy them.
	Meta map[string]string `json:"metadata,omitempty"`
}

// Trace implements [gate.Tracer].
func (h *objectionTracer) Trace(_ context.Context, e gate.TraceEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e.Name {
	case gate.TraceDenied:
		h.list = append(h.list, Objection{e.Policy, e.Reason, e.Metadata})
	case gate.TraceTool:
		h.cause = e.Row.Cause
	}
}

// Objections returns the objections since the last call of it.
func (j Decider) Objections() []Objection {
	j.said.mu.Lock()
	defer j.said.mu.Unlock()
	list := j.said.list
	j.said.list = nil
	return list
}

// causeOf returns the exact cause of the verdict of the latest call, where its arguments or its
// definition were refused.
func (h *objectionTracer) causeOf(v stopgate.Verdict) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.Layer != stopgate.LayerIntegrity || !v.Terminal() {
		return "" // the row of a cancelled call has it
	}
	return h.cause
}

// SetData sets the data of a call's session.
func (j Decider) SetData(ctx context.Context, call *stopgate.Call, data []byte) error {
	return j.Gate.SetData(ctx, session.Owner{Principal: call.Principal, Session: call.Session}, data)
}

// Decide gives the verdict of a call that goes no further.
func (j Decider) Decide(ctx context.Context, call stopgate.Call, args []byte) (stopgate.Verdict, error) {
	pending, err := j.Gate.Open(ctx, call)
	if err != nil {
		return stopgate.Verdict{}, err
	}
	defer pending.Cancel(ctx)
	pending.Feed(args)
	return pending.Close(stopgate.Ended), nil
}

// Replay returns the verdict of a call that ran and observes its result, so that the session has
// it. A refused call has no result.
func (j Decider) Replay(ctx context.Context, call stopgate.Call, args, result []byte) (stopgate.Verdict, error) {
	verdict, id, err := j.Release(ctx, call, args)
	if err != nil || id == "" {
		return verdict, err
	}
	_, err = j.Gate.Observe(ctx, stopgate.Result{
		Proposal: id, Call: call.ID, Session: call.Session, Principal: call.Principal, Tool: call.Tool,
		Data: result, Observed: true,
	})
	return verdict, err
}

// Release lets a call that did run go, if the policy allows it: id then names it for
// its result.
func (j Decider) Release(ctx context.Context, call stopgate.Call, args []byte) (verdict stopgate.Verdict, id stopgate.ProposalID, err error) {
	pending, err := j.Gate.Open(ctx, call)
	if err != nil {
		return verdict, "", err
	}
	defer pending.Cancel(ctx)
	pending.Feed(args)
	verdict = pending.Close(stopgate.Ended)
	if verdict.Terminal() {
		return verdict, "", nil
	}
	outcome, err := pending.Resolve(ctx)
	if err != nil || !outcome.Allowed() {
		return verdict, "", err
	}
	return verdict, pending.ID(), nil
}

// approveRecorded approves: only calls that ran reach it, so they were approved.
type approveRecorded struct{}

var _ gate.Approver = approveRecorded{}

// Abilities implements [gate.Approver].
func (approveRecorded) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

// Approve approves the complete call.
func (approveRecorded) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	view, err := q.Complete(ctx)
	return view.Approve("recorded"), err
}

// passingJudge is the judge where none is asked: a call that ran was let through by its judge, and
// of others the judge's verdict is not wanted (K30).
type passingJudge struct{}

// Judge has no objection.
func (passingJudge) Judge(context.Context, gate.Proposal) (gate.Opinion, error) {
	return gate.Opinion{Mode: stopgate.Unattended}, nil
}

// passing are the external policies where none is asked, as passingJudge is the judge.
type passing struct{ name string }

// Name returns the name of the table.
func (p passing) Name() string { return p.name }

// Check permits the call.
func (passing) Check(context.Context, gate.Proposal) (gate.Decision, error) {
	return gate.Decision{Kind: gate.Permit, Reason: "external_not_asked", Public: "An external policy decides about this call; it was not asked."}, nil
}

// CheckHandoff permits the handoff.
func (p passing) CheckHandoff(ctx context.Context, prop gate.Proposal) (gate.Decision, error) {
	return p.Check(ctx, prop)
}

func withoutExternals() gate.Option {
	return gate.WithExternals(func(t *gate.ExternalTable) (e gate.External, err error) {
		if t.Has(syntax.HookGate) {
			e.Tools = passing{t.Name}
		}
		if t.Has(syntax.HookHandoff) {
			e.Handoffs = passing{t.Name}
		}
		return e, nil
	})
}

func withoutJudges() gate.Option {
	return gate.WithJudges(func(*gate.JudgeTable) (gate.Judge, error) { return passingJudge{}, nil })
}

// NewGate makes the gate that a policy is tried on.
func NewGate(program gate.Policy, store gate.Store, person gate.Approver, more ...gate.Option) (*gate.Gate, error) {
	return gate.New(program, append([]gate.Option{
		gate.WithStore(store), gate.WithDenyMode(gate.DenyToolResult), gate.WithApprover(person), withoutJudges(), withoutExternals(),
	}, more...)...)
}
