package gate

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/turn"
	"github.com/stopgate/stopgate/session"
)

// Turn is one response of a model: its calls see the facts as they were when the
// first of them was opened, and one of them at most hands control over for good
// (S8, S9). Gateways and agents open a turn for each response; where a
// call is a turn of its own, [Gate.Open] is enough. Calls opened with the same
// session and Call.Turn belong to one turn too.
type Turn struct {
	g     *Gate
	owner session.Owner
	id    stopgate.TurnID
	state *turn.State
}

// Turn begins a turn of a session. Without an id only the returned value refers to it.
func (g *Gate) Turn(o session.Owner, id stopgate.TurnID) *Turn {
	return &Turn{g: g, owner: o, id: id, state: g.turnState(o, id)}
}

// Open is [Gate.Open] in the turn; session, principal and turn of the call are the
// turn's.
func (t *Turn) Open(ctx context.Context, call stopgate.Call) (*Pending, error) {
	return t.g.openIn(ctx, t.state, t.inTurn(call))
}

// Decide is [Gate.Decide] in the turn.
func (t *Turn) Decide(ctx context.Context, call stopgate.Call) (stopgate.Outcome, error) {
	return t.g.decideIn(ctx, t.state, t.inTurn(call))
}

// Observe is [Gate.Observe] for a call of the turn's session.
func (t *Turn) Observe(ctx context.Context, r stopgate.Result) (Delivery, error) {
	r.Session, r.Principal = t.owner.Session, t.owner.Principal
	return t.g.Observe(ctx, r)
}

// Handoff is [Gate.Handoff] in the turn.
func (t *Turn) Handoff(ctx context.Context, h HandoffCall) (stopgate.Outcome, error) {
	h.Session, h.Principal, h.Turn = t.owner.Session, t.owner.Principal, t.id
	return t.g.handoffIn(ctx, t.state, h)
}

func (t *Turn) inTurn(call stopgate.Call) stopgate.Call {
	call.Session, call.Principal, call.Turn = t.owner.Session, t.owner.Principal, t.id
	return call
}

type turnKey struct {
	owner session.Owner
	id    stopgate.TurnID
}

// turnState returns the state of the turn with an id; without an id it is new.
func (g *Gate) turnState(o session.Owner, id stopgate.TurnID) *turn.State {
	if id == "" || len(id)+len(o.Session)+len(o.Principal) > maxKeyText {
		return new(turn.State)
	}
	return g.turns.GetOrPut(turnKey{o, id}, func() *turn.State { return new(turn.State) })
}

// Next begins the next turn of the same conversation within one request. The reports that were
// passed to [Turn.Remember] apply to it too.
func (t *Turn) Next(id stopgate.TurnID) *Turn {
	next := t.g.Turn(t.owner, id)
	next.state.Isolated, next.state.Unreadable = t.state.Isolated, t.state.Unreadable
	return next
}
