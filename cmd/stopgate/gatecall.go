package main

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
)

// judge is a gate without records that is asked up to the point where somebody
// would be (K30).
type judge struct {
	gate    *gate.Gate
	program *policy.Program
}

func newJudge(l loaded) (judge, error) {
	g, err := gateFor(l.program, hindsight{})
	return judge{g, l.program}, err
}

// decide gives the verdict of a call that goes no further.
func (j judge) decide(ctx context.Context, call stopgate.Call, args []byte) (stopgate.Verdict, error) {
	pending, err := j.gate.Open(ctx, call)
	if err != nil {
		return stopgate.Verdict{}, err
	}
	defer pending.Cancel(ctx)
	pending.Feed(args)
	return pending.Close(stopgate.Ended), nil
}

// replay gives the verdict of a call that ran, and lets the gate see its result, so
// that the session knows of it. What the policy refuses leaves no result behind.
func (j judge) replay(ctx context.Context, call stopgate.Call, args, result []byte) (stopgate.Verdict, error) {
	pending, err := j.gate.Open(ctx, call)
	if err != nil {
		return stopgate.Verdict{}, err
	}
	defer pending.Cancel(ctx)
	pending.Feed(args)
	verdict := pending.Close(stopgate.Ended)
	if verdict.Terminal() {
		return verdict, nil
	}
	outcome, err := pending.Resolve(ctx)
	if err != nil || !outcome.Allowed() {
		return verdict, err
	}
	_, err = j.gate.Observe(ctx, stopgate.Result{
		Proposal: pending.ID(), Call: call.ID, Session: call.Session, Principal: call.Principal, Tool: call.Tool,
		Data: result, Observed: true,
	})
	return verdict, err
}

// hindsight approves: only calls that did run reach it, so somebody had.
type hindsight struct{}

var _ gate.Approver = hindsight{}

// Abilities says that somebody could answer.
func (hindsight) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

// Approve says yes to the complete call.
func (hindsight) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	view, err := q.Complete(ctx)
	return view.Approve("recorded"), err
}
