package gate

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
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

// pending is the state of a [Pending]. The fields after mu are guarded by mu as soon as the
// call is shared.
type pending struct {
	g                *Gate
	id               stopgate.ProposalID
	parent           stopgate.ProposalID // the proposal that was edited into this one
	call             stopgate.Call
	kind             Kind
	under            *compiled // the policy that the call began with
	bound                      // to the call's tool; empty if that panicked
	turn             *turn
	solo             turn      // of a call that is a turn by itself
	cut              bool      // a name of the call was too long
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

// inSession is the call in its session: the state at its beginning, the needs and answers of
// the session policies, and its facts.
type inSession struct {
	set      *session.Set      // the session policies that govern its tool, as of its beginning
	governed bool              // there are some
	tool     stopgate.ToolName // the tool's name in facts
	horizon  uint64            // position of the facts as the turn sees them
	waited   bool              // the call waits for a person or a model; see horizonAt
	data     jsonstream.Value  // of the session, as the rules see it; not valid if unknown

	needed       policyNeeds // the needs of the session policies, if needsKnown
	needsKnown   bool
	objections   []string           // of session policies
	decisions    []session.Decision // the same, for the trace
	factsAt      uint64             // position of the facts that the decision is based on
	releaseFacts []session.Fact     // the facts of its release; mu is held
}

// transfer is what a handoff adds to a call.
type transfer struct {
	to            stopgate.AgentName // the receiving agent
	handoffResult handoffResult
	senders       []string // agents whose tables apply too
}

// judgement is the verdict so far.
type judgement struct {
	eval          Evaluation         // nil once settled, or after a panic
	current       *stopgate.Verdict  // its latest verdict, not nil while there is one
	layerVerdicts []stopgate.Verdict // verdicts of the layers around the rules
	trace         []stopgate.Verdict // all verdicts, once settled
	terminal      bool               // the verdict is terminal
	done          chan struct{}      // made on demand, closed when it is
	cause         string             // a detail for the record
	judgedBy      string             // hash of the policy that decided, if not the one it began with
}

// consultation holds the questions of the call to policies in Go, judges and approvers, and
// their answers.
type consultation struct {
	abort            context.CancelCauseFunc // ends the context of Resolve
	permitted        bool                    // a policy in Go permitted the call
	opinions         []opinion               // of tool and handoff policies, for the trace
	judgeRun         *judgeRun               // of the judges, nil before they were asked
	judged           *stopgate.Review        // the strictest of their answers
	prompt           *prompt
	granted          *stopgate.Approval    // the approval of an edited call
	giveBackApproval func(context.Context) // makes that approval usable again
	usedApproval     bool                  // the approval of the prompt, or of the edit, is marked as used
	heldRows         []stopgate.Record     // rows about a question that are written with the decision row; read only
}

// stage is the progress of a call. It only grows.
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

// checkBeforeArguments evaluates everything that is known before any argument.
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

// start initializes a pending whose call is set.
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
	return p.verdict()
}

// proposed returns a copy of the call for ports.
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

// Done is closed when the verdict is terminal, also if that happens out of
// band: the approver declined, the deadline passed or the surface refused (S1).
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
