package gate

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
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
	state *turn
}

// Turn begins a turn of a session. Without an id only the returned value refers to it.
func (g *Gate) Turn(o session.Owner, id stopgate.TurnID) *Turn {
	return &Turn{g: g, owner: o, id: id, state: g.turn(o, id)}
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

// turn is the shared state of the calls of one turn.
type turn struct {
	mu       sync.Mutex
	known    bool
	head     uint64
	transfer stopgate.ProposalID         // the transition that was taken
	policies atomic.Pointer[session.Set] // those in Go, see begunWith
	siblings []sibling                   // its calls without an outcome, in the order of the response

	// Set before the first call, see Remember.
	isolated   *isolated // nil: the session's own facts
	unreadable bool      // the state of the session could not be read
}

type turnKey struct {
	owner session.Owner
	id    stopgate.TurnID
}

// turn returns the turn with an id; without an id it is new.
func (g *Gate) turn(o session.Owner, id stopgate.TurnID) *turn {
	if id == "" || len(id)+len(o.Session)+len(o.Principal) > maxKeyText {
		return new(turn)
	}
	return g.turns.getOrPut(turnKey{o, id}, func() *turn { return new(turn) })
}

// policiesAtStart returns the policies in Go that were registered when the first call of the
// turn was opened (S37).
func (t *turn) policiesAtStart(r *session.Registry) *session.Set {
	if t.policies.Load() == nil {
		t.policies.CompareAndSwap(nil, r.Set())
	}
	return t.policies.Load()
}

// horizonIfKnown returns the position of the facts that the turn sees, if it is known.
func (t *turn) horizonIfKnown() (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head, t.known
}

// begin fixes the position unless another call did, and returns it.
func (t *turn) begin(head uint64) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known {
		t.known, t.head = true, head
	}
	return t.head
}

// take reserves the turn's one transition.
func (t *turn) takeTransition(id stopgate.ProposalID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.transfer != "" && t.transfer != id {
		return false
	}
	t.transfer = id
	return true
}

// returnTransition gives the transition back if it was not made.
func (t *turn) returnTransition(id stopgate.ProposalID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.transfer == id {
		t.transfer = ""
	}
}

// Next begins the next turn of the same conversation within one request. The reports that were
// passed to [Turn.Remember] apply to it too.
func (t *Turn) Next(id stopgate.TurnID) *Turn {
	next := t.g.Turn(t.owner, id)
	next.state.isolated, next.state.unreadable = t.state.isolated, t.state.unreadable
	return next
}
