package gate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/session"
)

// Handler is a tool. It runs with the arguments that the gate released. With an error, data
// describes the failure for the model; if data is nil, the model receives the text of the
// error. [session.FromContext] returns the session from ctx.
type Handler func(ctx context.Context, args []byte) (data []byte, err error)

// ErrAbsent is the error of a handler that found that the target of its call does not exist,
// or one that wraps it: a session policy may let a new file be written without a read (Q15).
var ErrAbsent = errors.New("the target of the call does not exist")

// Ran is the result of [Gate.Run].
type Ran struct {
	Outcome stopgate.Outcome
	// Failed is the handler's error; nil if it did not run.
	Failed error
	// Data is the text for the model: the result, its replacement by the result rules, or
	// the envelope of the refusal.
	Data []byte
	// Envelope is the result in its normalized form (G2-15): of an allowed call with Data,
	// of a denied call, or one whose result was withheld, with the reason.
	Envelope stopgate.Envelope
}

// Run decides a call, runs its handler if it is allowed, and records the result, for a program
// that runs its own tools (TPS-32). The error is that of the gate: the [*Denied] of deny mode
// throw, or that of a result that could not be recorded. If the handler panics, the failure is
// recorded and the panic continues.
func (g *Gate) Run(ctx context.Context, call stopgate.Call, handler Handler) (Ran, error) {
	out, err := g.Decide(ctx, call)
	return runHandler(ctx, g, &call, out, err, handler)
}

// Run is [Gate.Run] in the turn.
func (t *Turn) Run(ctx context.Context, call stopgate.Call, handler Handler) (Ran, error) {
	call = t.inTurn(call)
	out, err := t.Decide(ctx, call)
	return runHandler(ctx, t.g, &call, out, err, handler)
}

func runHandler(ctx context.Context, g *Gate, call *stopgate.Call, out stopgate.Outcome, err error, handler Handler) (Ran, error) {
	ran := Ran{Outcome: out, Envelope: out.Envelope()}
	if err != nil || !out.Allowed() {
		ran.Data, _ = json.Marshal(ran.Envelope) // words and a null
		return ran, err
	}
	result := stopgate.Result{
		Proposal: out.Proposal, Call: call.ID, Session: call.Session, Principal: call.Principal, Tool: call.Tool, Observed: true, Failed: true, Args: out.Args,
	}
	ended := false
	defer func() {
		if !ended { // the handler panicked
			_, _ = g.Observe(context.WithoutCancel(ctx), result)
		}
	}()
	result.Data, ran.Failed = handler(g.Context(ctx, owner(call)), out.Args)
	ended = true
	if result.Failed = ran.Failed != nil; result.Failed && result.Data == nil {
		result.Data = []byte(ran.Failed.Error())
	}
	result.Absent = errors.Is(ran.Failed, ErrAbsent)
	delivery, err := g.Observe(ctx, result)
	ran.Data, ran.Envelope = delivery.Data, delivery.Envelope()
	return ran, err
}

// Context returns the context for the handler of a call that was released in a session. The
// handler can check other calls with the session policies in force (TPS-31).
func (g *Gate) Context(ctx context.Context, o session.Owner) context.Context {
	here := session.Here{Owner: o, Policies: g.current.Load().of(o.Session).policies(g.registry.Set())}
	if g.sessions.exists() {
		here.Load = func(ctx context.Context, keys []session.Key) (session.View, error) {
			state := g.sessions.load(ctx, o, keys)
			if state.Fault != port.None {
				return session.View{}, state.Problem("session")
			}
			return session.View{State: state.Value, Owner: o, Now: g.sessions.timeOf(&state.Value), Horizon: state.Value.Head}, nil
		}
	}
	return session.NewContext(ctx, here)
}
