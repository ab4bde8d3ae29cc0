package gate

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Pending is a call on its way through the gate. Feed and Close belong to one
// goroutine; every other method may be called from any.
//
//	Open -> Feed ... -> Close -> Resolve       the way of a call that is decided
//	              \-> Ask                      early, from the first ask on
//	      at any time: Refuse, Cancel
//
// A Pending that is dropped without Resolve or Cancel is recorded as cancelled
// when the garbage collector finds it (K51): a backstop, not a way to
// end a call.
type Pending struct {
	// What is running on behalf of the call holds on to this alone, so that a
	// dropped Pending is found.
	*pending
}

// pending is the call behind a [Pending]. What it knows stands in groups; from mu on, mu
// is held by whoever touches it while others may know the call.
type pending struct {
	g                *Gate
	id               stopgate.ProposalID
	parent           stopgate.ProposalID // in whose place somebody's edit put it
	call             stopgate.Call
	kind             Kind
	under            *compiled // the policy it began with
	bound                      // to the call's tool; empty if that panicked
	turn             *turn
	solo             turn      // of a call that is a turn by itself
	cut              bool      // one of its names was too long
	opened, complete time.Time // when it began and when its last byte came, for the tracer
	inSession
	transfer

	mu    sync.Mutex
	stage stage
	arguments
	judgement
	consultation
	rowLost bool // its row is counted as lost, or spooled
	spooled bool // the latter
	out     stopgate.Outcome
}

// inSession is the call in its session: what was known there when it began, what the
// session policies want and say, and what it leaves.
type inSession struct {
	set      *session.Set      // the session policies it began with that hear of its tool
	governed bool              // there are some
	tool     stopgate.ToolName // by which facts know it
	horizon  uint64            // position of the facts as the turn sees them
	waited   bool              // the call waits for a person or a model; see horizonAt
	data     jsonstream.Value  // of the session, as the rules see it; not valid if unknown

	needed       policyNeeds // what session policies need, once asked
	needsKnown   bool
	objections   []string           // of session policies
	decisions    []session.Decision // the same, for the trace
	factsAt      uint64             // position of the facts that were looked at
	releaseFacts []session.Fact     // the facts of its release; mu is held
}

// transfer is what a handoff adds to a call.
type transfer struct {
	to            stopgate.AgentName // the receiving agent
	handoffResult handoffResult
	senders       []string // agents whose tables hold too
}

// judgement is the verdict as it grows.
type judgement struct {
	eval          Evaluation         // nil once settled, or after a panic
	current       *stopgate.Verdict  // its latest verdict, not nil while there is one
	layerVerdicts []stopgate.Verdict // what the layers around the rules said
	trace         []stopgate.Verdict // everything, once settled
	terminal      bool               // the verdict is terminal
	done          chan struct{}      // made on demand, closed when it is
	cause         string             // a word of detail for the record
	judgedBy      string             // hash of the policy that decided, if not the one it began with
}

// consultation is who was asked, and what they said.
type consultation struct {
	abort            context.CancelCauseFunc // ends what Resolve waits for
	permitted        bool                    // a policy in Go said so
	opinions         []opinion               // of tool and handoff policies, for the trace
	judgeRun         *judgeRun               // of the judges, nil before they were asked
	judged           *stopgate.Review        // the strictest of their answers
	prompt           *prompt
	granted          *stopgate.Approval    // an edited call comes with it
	giveBackApproval func(context.Context) // gives it back
	usedApproval     bool                  // the approval of the prompt, or of the call that this one is an edit of
	heldRows         []stopgate.Record     // rows about a question that go with its own; never written to
}

// stage is how far a call has come. It only grows.
type stage uint8

const (
	feeding   stage = iota // Feed and Close
	closed                 // Ask, Resolve
	resolving              // Resolve has begun
	committed              // the row is being written: nothing changes any more
	settled                // there is an outcome
)

func (g *Gate) open(ctx context.Context, t *turn, call stopgate.Call, parent stopgate.ProposalID) (*pending, error) {
	p, err := g.newPending(t, call, parent)
	if err == nil {
		p.checkBeforeArguments(ctx)
	}
	return p, err
}

// checkBeforeArguments looks at all that is known before any argument.
func (p *pending) checkBeforeArguments(ctx context.Context) {
	p.loadSessionData(ctx)
	p.begin()
	p.checkNames()
	p.applyLockdown()
	if !p.terminal {
		p.beginSession(ctx)
	}
}

func (g *Gate) newPending(t *turn, call stopgate.Call, parent stopgate.ProposalID) (*pending, error) {
	if call.Args != nil {
		return nil, ErrArgs
	}
	id, err := newProposalID(g.now(), g.entropy)
	if err != nil {
		return nil, err
	}
	p := &pending{id: id, parent: parent, call: call, turn: t}
	p.start(g)
	return p, nil
}

// start makes a pending that knows its call ready to be entered.
func (p *pending) start(g *Gate) {
	p.shorten()
	p.g, p.under, p.set, p.tool, p.current = g, g.current.Load(), noPolicies, p.call.Tool, &undecided
	if p.turn == nil {
		p.turn = &p.solo
	}
	if p.under.observe && g.lock.active() {
		p.under = p.under.strict
	}
	if g.tracer != nil {
		p.opened = time.Now()
	}
}

// noPolicies is what a call begins with.
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

// Refuse denies the call for a reason that the surface found: protocol_violation,
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
	return p.verdict()
}

// proposed is the call as the ports may see it.
func (p *pending) proposed() stopgate.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.call
}

// Verdict returns the verdict so far.
func (p *pending) Verdict() stopgate.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.verdict()
}

// Trace lists every verdict that was published, in order; they only get stricter
// (I2, I3).
func (p *pending) Trace() []stopgate.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.transitions()
}

// Done is closed when the verdict is terminal, also where that happens out of
// band: the approver declined, the deadline passed, the surface refused
// (S1).
func (p *pending) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done == nil {
		p.done = make(chan struct{})
		if p.terminal {
			close(p.done)
		}
	}
	return p.done
}
