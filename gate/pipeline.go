package gate

import (
	"context"

	"github.com/stopgate/stopgate"
)

// layer is one step of the pipeline. It adds its verdict to the call, or none.
type layer func(ctx context.Context, p *pending)

// layers is the pipeline from the complete arguments of a call to its outcome. Before it runs,
// Open, Feed and Close have checked the integrity of the arguments and evaluated the rules on
// them. No layer loosens the verdict of an earlier one, and a call with a terminal verdict
// skips the rest. The last layer is the record, and with it the release: see [Gate.commit].
func layers() [9]layer {
	return [...]layer{
		integrity,       // the arguments are complete, and the rules have a verdict
		handoffPolicies, // of a call that hands control to another agent
		toolPolicies,    // policies in Go
		senderRules,     // the rules of the agents who handed over to the call's agent
		sessionPolicies,
		questions, // opens the questions to people and judges, without waiting
		judges,
		approval,
		finalCheck, // the policy in force now
	}
}

// resolution is a call in the pipeline, with the context of everything that is asked about it.
type resolution struct {
	call *pending
	ctx  context.Context
}

// resolve takes calls through all layers and commits them. The calls of a turn take each layer
// in their order, so that the questions about all of them are open at the same time.
func (g *Gate) resolve(ctx context.Context, calls []resolution) {
	runLayers(calls)
	g.commit(ctx, calls)
}

// runLayers is the pipeline without its end, the record.
func runLayers(calls []resolution) {
	for _, layer := range layers() {
		for _, r := range calls {
			if p := r.call; p.approval.edited == nil && !p.isTerminal() {
				layer(r.ctx, p)
			}
		}
	}
	for _, r := range calls {
		endQuestions(r.call)
	}
}

// Resolve takes a closed call through the layers after the rules: tool policies, session
// policies, judge and approver, the final check, the record. It blocks until there is an
// outcome; the end of ctx denies. The tool must run with exactly the bytes of Outcome.Args.
//
// In deny mode throw a denied call returns a *Denied with its outcome. Any other error is
// misuse: ErrOpen before Close, ErrResolved the second time.
func (p *pending) Resolve(ctx context.Context) (stopgate.Outcome, error) {
	p.mu.Lock()
	stage := p.stage
	var calls []resolution
	if stage == closed {
		calls = []resolution{p.beginResolve(ctx)}
	}
	p.mu.Unlock()
	switch {
	case stage < closed:
		return stopgate.Outcome{Proposal: p.id}, ErrOpen
	case stage > closed:
		return stopgate.Outcome{Proposal: p.id}, ErrResolved
	}
	p.g.resolve(ctx, calls)
	out := p.outcome()
	return out, p.gates.denial(&out)
}

// ResolveAll is [Pending.Resolve] for the closed calls of one turn, in the order in which
// the model made them. People and judges are asked about all of them at the same time.
// Reservations and rows are made in the order of the list, each on the facts that the
// calls before it left; those of neighbours that may leave are written together. A call
// that fails does not affect the others.
//
// The outcome of a call has its index. That of a call that is not closed, or is resolved
// already, denies and has no verdict. A denial is no error here, also in deny mode throw.
func (g *Gate) ResolveAll(ctx context.Context, calls []*Pending) []stopgate.Outcome {
	outs := make([]stopgate.Outcome, len(calls))
	var closing []resolution
	var at []int
	for i, call := range calls {
		p := call.pending
		outs[i].Proposal = p.id
		p.mu.Lock()
		if p.stage == closed {
			closing, at = append(closing, p.beginResolve(ctx)), append(at, i)
		}
		p.mu.Unlock()
	}
	g.resolve(ctx, closing)
	for i, r := range closing {
		outs[at[i]] = r.call.outcome()
	}
	return outs
}

// Cancel ends the call: its question and judges are cancelled, and the proposal is
// recorded, as cancelled if its verdict was not terminal yet. A concurrent Resolve returns
// the denial. After Resolve, Cancel has no effect, so that it can be deferred.
func (p *pending) Cancel(ctx context.Context) {
	p.mu.Lock()
	if p.stage < committed {
		p.addVerdict(p.refusal(stopgate.LayerFailure, stopgate.CodeCancelled))
	}
	if p.stage >= resolving {
		p.mu.Unlock()
		return
	}
	calls := []resolution{p.beginResolve(ctx)}
	p.mu.Unlock()
	p.g.resolve(ctx, calls)
}

// dropped cancels a call whose Pending was garbage collected, unless it is being resolved.
func (p *pending) dropped() {
	p.mu.Lock()
	begun := p.stage >= resolving
	p.mu.Unlock()
	if !begun {
		p.Cancel(context.Background())
	}
}

// beginResolve begins the last step of the call. The context of the resolution ends when ctx
// does, and when the call is decided. p.mu is held.
func (p *pending) beginResolve(ctx context.Context) resolution {
	p.stage = resolving
	ctx, p.abort = context.WithCancelCause(ctx)
	return resolution{p, ctx}
}

// outcome returns the outcome of the call, or of the proposal that it was edited into, and
// gives up its arguments.
func (p *pending) outcome() stopgate.Outcome {
	if p.approval.edited != nil {
		p = p.approval.edited
	}
	out := p.out
	p.out.Args = nil
	return out
}
