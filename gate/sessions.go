package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// sessionLayer is a call in its session: the session policies that govern it and the facts that
// they see. They are asked when the call begins, when its arguments are complete, before people
// and judges are asked, and last in the step that records the release.
type sessionLayer struct {
	p *pending

	// Of the step that the call takes.
	set        *session.Set      // the session policies that govern its tool, as of its beginning
	governed   bool              // there are some
	tool       stopgate.ToolName // the tool's name in facts
	horizon    uint64            // position of the facts as the turn sees them
	waited     bool              // the call waits for a person or a model; see horizonAt
	data       jsonstream.Value  // of the session, as the rules see it; not valid if unknown
	texts      flow.View         // of the session as of the beginning of the call; nil if unknown
	textsAt    *stopgate.TextPosition
	needed     policyNeeds // of the session policies, if needsKnown
	needsKnown bool

	// Guarded by the mu of the call.
	objections   []string           // of session policies
	decisions    []session.Decision // the same, for the trace
	asks         []session.Decision // those of them that a person may overrule
	early        bool               // some of these were found before the arguments were complete
	factsAt      uint64             // position of the facts that the decision is based on
	releaseFacts []session.Fact     // the facts of its release
}

// owner returns the owner of a call's state.
func owner(c *stopgate.Call) session.Owner {
	return session.Owner{Principal: c.Principal, Session: c.Session}
}

// loadData loads the session's data if rules depend on it (K60). Data that cannot be
// read is unknown.
func (l *sessionLayer) loadData(ctx context.Context) {
	p := l.p
	if !p.under.looksAtSessions || !p.g.sessions.exists() || p.call.Session == "" {
		return
	}
	r := p.g.sessions.load(ctx, owner(&p.call), []session.Key{session.DataKey})
	if r.Fault != port.None {
		return
	}
	text := "{}"
	if cell, _ := r.Value.Cell(session.DataKey); cell.Text != "" {
		text = cell.Text
	}
	l.data, _ = jsonstream.Parse([]byte(text), jsonstream.Options{})
}

// begin determines the horizon of the call (S8) and asks the session policies that need
// no arguments.
func (l *sessionLayer) begin(ctx context.Context) {
	p := l.p
	g := p.g
	all := p.under.policies(p.turn.PoliciesAtStart(g.registry))
	l.tool = p.under.name(p.call.Tool)
	l.set = p.bound.cache.policiesFor(all, l.tool)
	l.governed = l.set.Len() > 0
	if all.Len() == 0 && !p.under.inherits {
		return
	}
	governed := l.governed
	if !g.sessions.exists() {
		if governed {
			p.fail(stopgate.CodeStoreUnavailable, "no store", port.None, "")
		}
		return
	}
	early := l.set.Early(l.tool)
	if head, begun := p.turn.Horizon(); begun && !governed && !p.under.inherits {
		l.horizon = head
		return
	}
	keys := []session.Key{session.Self}
	c := session.Call{Proposal: p.id, Tool: l.tool, Agent: p.call.Agent, Turn: p.call.Turn, ID: p.call.ID}
	if early {
		keys = l.set.Needs(c)
	}
	if p.under.inherits {
		keys = append(keys, inheritKey(p.call.Agent))
	}
	r := g.sessions.load(ctx, owner(&p.call), keys)
	if r.Fault != port.None {
		if governed || p.under.inherits {
			l.fault(r.Fault, r.Err, r.Stack)
		}
		return
	}
	if inherited, _ := r.Value.Cell(inheritKey(p.call.Agent)); inherited.Text != "" {
		p.handoff.senders = strings.Split(inherited.Text, "\n")
	}
	l.horizon = p.turn.Begin(r.Value.Head)
	if !governed {
		return
	}
	if p.turn.Unreadable {
		l.fault(port.Failed, nil, "")
		return
	}
	if p.kind == ToolCall {
		l.watch()
	}
	if g.sessions.isUncertain(owner(&p.call), r.Value) {
		p.deny(stopgate.LayerSession, stopgate.CodeSessionDegraded)
		return
	}
	if early {
		v := l.view(r.Value)
		_, all := l.set.CheckEach(&v, &c, l.runner(ctx))
		l.applyEarly(all, r.Value.Head)
	}
	if governed && p.shared() && !p.isTerminal() {
		p.turn.Join(p.id, session.ToolKey(l.tool))
	}
}

// view returns the state of the session as the policies see it for this call.
func (l *sessionLayer) view(s session.State) session.View {
	p := l.p
	return session.View{
		State: p.turn.Isolated.Overlay(s), Owner: owner(&p.call), Groups: p.call.Groups, Now: p.g.sessions.timeOf(&s), Horizon: l.horizonAt(s.Head), UnderWay: p.turn.UnderWay(p.id),
	}
}

// horizonAt returns the position up to which permits count in a check on the facts at head.
// A call that is a turn by itself, and about which neither a person nor a model is asked, is
// decided on the facts of the check alone, as if it had come at that moment (I19).
func (l *sessionLayer) horizonAt(head uint64) uint64 {
	if l.p.turn == &l.p.solo && !l.waited {
		return head
	}
	return l.horizon
}

// policyRunner calls a session policy that is not bounded.
type policyRunner func(session.Policy, func() session.Decision) session.Decision

// runner returns the function that calls foreign session policies under a deadline
// (FM15); the gate's own are bounded by construction (K39). It is nil without foreign
// policies.
func (l *sessionLayer) runner(ctx context.Context) policyRunner {
	p := l.p
	if !l.set.Foreign(l.tool) {
		return nil
	}
	return func(policy session.Policy, f func() session.Decision) session.Decision {
		limit := max(p.g.limits.Policy, l.set.LimitOf(policy))
		r := port.Invoke(ctx, &p.g.guards.policies, limit, func(context.Context) (session.Decision, error) { return f(), nil })
		if r.Fault != port.None {
			p.g.reportTrouble("policy "+policy.Name(), p.id, r.Fault, r.Err)
			return session.Deny(policyFault(r.Fault, r.Err), "")
		}
		return r.Value
	}
}

// fault denies because the state cannot be read or written (FM2).
func (l *sessionLayer) fault(f port.Fault, err error, stack string) {
	if f == port.CallerDone {
		l.p.fail(goneCode(err), "sessions", f, "")
		return
	}
	l.p.fail(stopgate.CodeStoreUnavailable, "sessions", f, stack)
}

// sessionPolicies is the layer of the session policies before people and judges are asked.
// Without a question they are checked only with the release: see [commitment.release].
func sessionPolicies(ctx context.Context, p *pending) {
	if !p.under.observe && p.Verdict().Mode.Permissive() && len(p.judges.ofCall()) == 0 {
		return
	}
	l := &p.sessions
	if !p.g.sessions.exists() || p.call.Session == "" && !l.set.Governs(l.tool) {
		return
	}
	var c session.Call
	if !l.call(&c) {
		p.fail(stopgate.CodePolicyError, "sessions", port.None, "")
		return
	}
	needs, ok := l.needsOrFail(ctx, &c)
	if !ok {
		return
	}
	sticky := l.stickyKey()
	r := p.g.sessions.load(ctx, owner(&p.call), append(slices.Clip(needs.keys), sticky))
	if r.Fault != port.None {
		if l.set.Governs(l.tool) {
			l.fault(r.Fault, r.Err, r.Stack)
		}
		return
	}
	if p.turn == &p.solo && !l.waited {
		l.waited, l.horizon = true, r.Value.Head
	}
	v := l.view(r.Value)
	_, all := l.set.CheckEach(&v, &c, l.runner(ctx))
	l.apply(all, r.Value.Head)
	self, _ := r.Value.Cell(session.Self)
	if declined, _ := r.Value.Cell(sticky); p.call.Session != "" && declined.Text != "" && declined.Seq > self.Condition().Spoke && !p.isTerminal() {
		p.deny(stopgate.LayerApproval, stopgate.CodeApprovalDeclined)
	}
}

// stickyKey returns the key of declined approvals of the identical call (S27).
func (l *sessionLayer) stickyKey() session.Key {
	return session.Key{Space: session.SpaceSticky, Name: string(l.tool), Value: l.p.args.hash}
}
