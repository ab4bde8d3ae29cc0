package gate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// Handler is a tool: it runs with the arguments that the gate let out, and no others.
// What it returns beside an error is what the model is told of the failure; without it,
// the error's text. In ctx it finds its session: [session.FromContext].
type Handler func(ctx context.Context, args []byte) (data []byte, err error)

// ErrAbsent is the error of a handler that has seen that nothing is where its call
// looked, or one that wraps it: where a file is verified to be new, a session policy may
// let it be written without having been read (Q15).
var ErrAbsent = errors.New("nothing is there")

// Ran is what became of a call that [Gate.Run] was given.
type Ran struct {
	Outcome stopgate.Outcome
	// Failed is the handler's error; nil if it did not run.
	Failed error
	// Data is what the model gets: the result, what the result rules made of it, or the
	// envelope of the refusal.
	Data []byte
}

// Run is the whole way of a call in a program that runs its own tools (TPS-32): the call
// is decided, its handler runs if it may, and the result is a fact before the model gets
// it. The error is the gate's: the [*Denied] of deny mode throw, or a result that could
// not be kept. A handler that panics has failed, and the panic goes on.
func (g *Gate) Run(ctx context.Context, call stopgate.Call, handler Handler) (Ran, error) {
	out, err := g.Decide(ctx, call)
	return g.run(ctx, &call, out, err, handler)
}

// Run is [Gate.Run] in the turn.
func (t *Turn) Run(ctx context.Context, call stopgate.Call, handler Handler) (Ran, error) {
	call = t.inTurn(call)
	out, err := t.Decide(ctx, call)
	return t.g.run(ctx, &call, out, err, handler)
}

func (g *Gate) run(ctx context.Context, call *stopgate.Call, out stopgate.Outcome, err error, handler Handler) (Ran, error) {
	ran := Ran{Outcome: out}
	if err != nil || !out.Allowed() {
		ran.Data, _ = json.Marshal(out.Envelope()) // words and a null
		return ran, err
	}
	result := stopgate.Result{
		Proposal: out.Proposal, Call: call.ID, Session: call.Session, Principal: call.Principal, Tool: call.Tool, Observed: true, Failed: true,
	}
	ended := false
	defer func() {
		if !ended { // the panic is on its way
			_, _ = g.Observe(context.WithoutCancel(ctx), result)
		}
	}()
	result.Data, ran.Failed = handler(g.Context(ctx, owner(call)), out.Args)
	ended = true
	if result.Failed = ran.Failed != nil; result.Failed && result.Data == nil {
		result.Data = []byte(ran.Failed.Error())
	}
	result.Absent = errors.Is(ran.Failed, ErrAbsent)
	told, err := g.Observe(ctx, result)
	ran.Data = told.Data
	return ran, err
}

// Context returns the context for the handler of a call that was released in a session:
// in it the handler finds the session policies in force, and may ask what they would say
// of another call (TPS-31).
func (g *Gate) Context(ctx context.Context, o session.Owner) context.Context {
	here := session.Here{Owner: o, Policies: g.current.Load().policies(g.registry.Set())}
	if g.store != nil {
		here.Load = func(ctx context.Context, keys []session.Key) (session.View, error) {
			state := g.load(ctx, o, keys)
			if state.fault != none {
				return session.View{}, state.problem("session")
			}
			return session.View{State: state.value, Owner: o, Now: g.now().UnixMilli(), Horizon: state.value.Head}, nil
		}
	}
	return session.NewContext(ctx, here)
}
