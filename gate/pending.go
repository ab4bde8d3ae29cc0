package gate

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/internal/gate/turn"
	"github.com/stopgate/stopgate/session"
)

// Pending is a call that the gate has not decided yet. Feed and Close belong to one
// goroutine; every other method may be called from any.
//
//	Open -> Feed ... -> Close -> Resolve       the order for a call that is decided
//	              \-> Ask                      early, from the first ask on
//	      at any time: Refuse, Cancel
//
// A Pending that is dropped without Resolve or Cancel is recorded as cancelled
// when the garbage collector finds it (K51): a backstop, not a way to
// end a call.
type Pending struct {
	// Goroutines of the call refer only to pending, so that the garbage collector finds a
	// dropped Pending.
	*pending
}

// pending is the state of one call from Open to its outcome. A call takes one step at a time:
// Open, Feed and Close, then the layers of Resolve. Its question and its judges run at the
// same time as these steps.
type pending struct {
	// Set by Open; read only afterwards.
	g      *Gate
	id     stopgate.ProposalID
	parent stopgate.ProposalID // the proposal that was edited into this one
	kind   Kind
	under  *compiled // the policy that the call began with
	bound  bound     // that policy for the call's tool; empty if it panicked
	turn   *turn.State
	solo   turn.State // of a call that is a turn by itself
	opened time.Time  // for the tracer

	// Of the step that the call takes: see the types for the exceptions.
	gates    gateLayer
	handoff  handoffLayer
	sessions sessionLayer
	proposal *Proposal // for the layers after the rules

	// mu guards the fields below as soon as the call is shared.
	mu       sync.Mutex
	call     stopgate.Call // after Open only its ID changes
	cut      bool          // a name of the call was too long
	stage    stage
	args     arguments
	verdicts verdicts
	judges   judgeLayer
	approval approvalLayer
	abort    context.CancelCauseFunc // ends the context of Resolve
	heldRows []stopgate.Record       // about a question, to be written with the decision row; read only
	access   *stopgate.Access        // of policies that came into force since the call was opened
	out      stopgate.Outcome
}

// stage is the progress of a call. It only grows, but for a call that is resolved again in the step
// of its release.
type stage uint8

const (
	feeding   stage = iota // Feed and Close
	closed                 // Ask, Resolve
	resolving              // Resolve has begun
	committed              // the row is being written: the outcome is final
	settled                // there is an outcome
)

func (g *Gate) open(ctx context.Context, t *turn.State, call stopgate.Call, parent stopgate.ProposalID) (*pending, error) {
	p, err := g.newPending(t, call, parent)
	if err == nil {
		p.sessions.loadData(ctx)
		p.sessions.loadTexts(ctx)
		p.begin()
		p.checkNames()
		p.applyLockdown()
		if !p.verdicts.terminal {
			p.sessions.begin(ctx)
		}
	}
	return p, err
}

func (g *Gate) newPending(t *turn.State, call stopgate.Call, parent stopgate.ProposalID) (*pending, error) {
	if call.Args != nil {
		return nil, ErrArgs
	}
	id, err := rows.NewProposalID(g.now(), g.entropy)
	if err != nil {
		return nil, err
	}
	p := &pending{g: g, id: id, parent: parent, call: call, turn: t}
	p.shorten()
	p.under = g.current.Load().of(p.call.Session)
	p.verdicts.current = &undecided
	p.gates.p, p.handoff.p, p.judges.p, p.approval.p = p, p, p, p
	p.sessions = sessionLayer{p: p, set: noPolicies, tool: p.call.Tool}
	if p.turn == nil {
		p.turn = &p.solo
	}
	if p.under.observe && g.lock.active() {
		p.under = p.under.strict
	}
	if g.tracer != nil {
		p.opened = time.Now()
	}
	return p, nil
}

// noPolicies is the empty set.
var noPolicies = new(session.Set)

// ID is the gate's own id of the proposal.
func (p *pending) ID() stopgate.ProposalID { return p.id }

// Identify sets the provider's id of a call that was opened before it was known.
// Rows and questions made from then on carry it.
func (p *pending) Identify(id stopgate.CallID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.call.ID = id
	if p.shorten(); p.stage < committed {
		p.checkNames()
	}
}

// Enforced reports whether verdicts hold the call back; false in observe mode,
// where the surface lets every byte pass as it comes (K38).
func (p *pending) Enforced() bool { return !p.under.observe }

// Refuse denies the call for a reason of the surface: protocol_violation,
// envelope_mismatch, stream_truncated, client_gone. It holds until the outcome is
// on record, also after Close and while Resolve waits; a verdict that is terminal
// already stays.
func (p *pending) Refuse(code stopgate.Code) stopgate.Verdict {
	if !code.Valid() {
		code = stopgate.CodeProtocolViolation
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage < committed {
		p.addVerdict(p.refusal(layerOf(code), code))
	}
	return *p.verdicts.latest()
}

// Verdict returns the verdict so far.
func (p *pending) Verdict() stopgate.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.verdicts.latest()
}

// Trace lists every verdict that was published, in order; they only get stricter
// (I2, I3).
func (p *pending) Trace() []stopgate.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.verdicts.all()
}

// Done is closed when the verdict is terminal, also if that happens out of
// band: the approver declined, the deadline passed or the surface refused (S1).
func (p *pending) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.verdicts.whenTerminal()
}

// isTerminal reports whether the verdict is terminal.
func (p *pending) isTerminal() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.verdicts.terminal
}

// proposed returns a copy of the call for ports.
func (p *pending) proposed() stopgate.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.call
}

// shared reports that other calls may belong to the call's turn.
func (p *pending) shared() bool { return p.turn != &p.solo && p.kind == ToolCall }
