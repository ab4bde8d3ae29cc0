package gate

import (
	"context"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/turn"
	"github.com/stopgate/stopgate/session"
)

// HandoffCall is a proposal to hand control to another agent (G2-06).
type HandoffCall struct {
	From, To  stopgate.AgentName // "" is "main"
	ID        stopgate.CallID
	Session   stopgate.SessionID
	Turn      stopgate.TurnID
	Principal stopgate.Principal
	Groups    stopgate.Groups // of the principal
	Surface   stopgate.Surface
	// Payload is the JSON value that the receiving agent gets; it may be empty.
	Payload []byte
}

// HandoffPolicy is a deterministic policy for handoffs, written in Go (G2-03). It
// sees the proposal with the receiving agent in To and the payload in Args. Where no
// file has an entry for a handoff, one Permit allows it.
type HandoffPolicy interface {
	Name() string
	CheckHandoff(ctx context.Context, p Proposal) (Decision, error)
}

// mainAgent is the agent of calls without an agent name (S41).
const mainAgent = stopgate.AgentName("main")

// Handoff decides a proposal to hand control over. The entries of [[handoffs]] and
// the handoff policies decide; without an explicit allow it is denied
// policy_not_configured. Session policies that select "handoff:TO" hold too, ask is
// put to the approver, and every proposal gets its row. Outcome.Args is the payload.
//
// A transfer is possible once in a turn (X15). In deny mode throw the
// error of a denial is a *Denied of kind [Handoff].
func (g *Gate) Handoff(ctx context.Context, h HandoffCall) (stopgate.Outcome, error) {
	return g.handoffIn(ctx, g.turnState(session.Owner{Principal: h.Principal, Session: h.Session}, h.Turn), h)
}

func (g *Gate) handoffIn(ctx context.Context, t *turn.State, h HandoffCall) (stopgate.Outcome, error) {
	if h.From == "" {
		h.From = mainAgent
	}
	call := stopgate.Call{
		Tool: "handoff", ID: h.ID, Session: h.Session, Turn: h.Turn, Agent: h.From, Principal: h.Principal, Groups: h.Groups, Surface: h.Surface,
	}
	p, err := g.newPending(t, call, "")
	if err != nil {
		return stopgate.Outcome{}, err
	}
	p.kind, p.handoff.to = Handoff, h.To
	p.cut = shortName(&p.handoff.to, maxName) || p.cut
	p.begin()
	p.checkNames()
	payload := h.Payload
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	p.sessions.begin(ctx)
	p.Feed(payload)
	p.Close(stopgate.Ended)
	return p.Resolve(ctx)
}

// handoffLayer is the state that a handoff adds to a call.
type handoffLayer struct {
	p       *pending
	to      stopgate.AgentName // the receiving agent
	result  handoffResult      // of the entries of the files
	senders []string           // agents whose tables apply too
}

// handoffPolicies is the layer of the entries and policies for handoffs: a handoff, or a call of
// a tool that is one, must be allowed, and the turn must not have handed over before.
func handoffPolicies(ctx context.Context, p *pending) {
	h, is := p.handoff.find()
	if !is {
		return
	}
	permitted := h.found
	for _, policy := range p.g.handoffs {
		if p.isTerminal() {
			return
		}
		permitted = p.gates.ask(ctx, policy.Name(), p.g.limits.Policy, func(ctx context.Context) (Decision, error) { return policy.CheckHandoff(ctx, *p.proposal) }) || permitted
	}
	permitted = p.gates.askHandoff(ctx, p.under.handoffGates()) || permitted
	if !permitted && !p.isTerminal() {
		p.forbid(stopgate.LayerGate, stopgate.CodePolicyNotConfigured, "No policy covers this handoff.")
	}
	if p.isTerminal() {
		return
	}
	p.handoff.result = h
	if h.inherit && !p.g.sessions.exists() {
		p.fail(stopgate.CodeStoreUnavailable, "no store", port.None, "")
		return
	}
	if !h.delegate && !p.under.observe && !p.turn.TakeTransition(p.id) {
		p.forbid(stopgate.LayerGate, stopgate.CodeHandoffAlreadyTaken, "")
	}
}

// find returns the entries of the files about the handoff; is is false for an ordinary call. The
// verdict of the entries about a tool that is a handoff is added here, because its rules do not
// have it.
func (l *handoffLayer) find() (h handoffResult, is bool) {
	p := l.p
	to, isTool := p.under.receiver(p.sessions.tool, p.verdicts.eval.Document().Root())
	switch {
	case p.kind == Handoff:
		return p.under.handoff(p.call.Agent, l.to), true
	case !isTool:
		return h, false
	}
	from := p.call.Agent
	if from == "" {
		from = mainAgent
	}
	l.to, p.proposal.To = to, to
	h = p.under.handoff(from, to)
	v := h.verdict(p.g.decidesHandoffs(p.under))
	p.mu.Lock()
	defer p.mu.Unlock()
	v.DecidedAt, v.Floors = p.args.received, p.verdicts.latest().Floors
	p.addVerdict(v)
	return h, true
}

// Inheritance (S9): with inherit in its entry, a handoff applies the tables of the agents who
// handed over to the receiver too.

// inheritKey returns the key of the agents whose tables apply to an agent.
func inheritKey(agent stopgate.AgentName) session.Key {
	return session.NoteKey("stopgate:inherit", string(agent))
}

// inheritFact returns the fact that applies the sender's tables to the receiver.
func (l *handoffLayer) inheritFact(at int64) session.Fact {
	senders := append([]string{string(l.p.call.Agent)}, l.senders...)
	f := session.Note("stopgate:inherit", string(l.to), strings.Join(senders, "\n"))
	f.Proposal, f.At = l.p.id, at
	return f
}

// passesTables reports whether the handoff has an [handoffLayer.inheritFact].
func (l *handoffLayer) passesTables() bool { return l.result.inherit && l.to != "" }

// senderRules is the layer of the tables of the agents who handed over to the call's agent: the
// strictest verdict wins.
func senderRules(_ context.Context, p *pending) {
	for _, sender := range p.handoff.senders {
		p.mu.Lock()
		if !p.verdicts.terminal {
			p.handoff.evaluateAs(stopgate.AgentName(sender))
		}
		p.mu.Unlock()
	}
}

// evaluateAs adds the verdict of the rules on the call as if another agent had made it; p.mu is
// held.
func (l *handoffLayer) evaluateAs(agent stopgate.AgentName) {
	p := l.p
	defer p.recoverPolicy()
	call := p.call
	call.Agent = agent
	e := p.under.binding(&call, p.sessions.data, p.sessions.texts).rules.Evaluate(p.sessions.texts)
	e.Feed(p.args.final)
	v := e.Close(stopgate.Ended)
	if !v.Decided {
		v = p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError)
	}
	p.addVerdict(v)
}
