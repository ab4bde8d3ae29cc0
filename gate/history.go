package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// owner returns the owner of a call's state.
func owner(c *stopgate.Call) session.Owner {
	return session.Owner{Principal: c.Principal, Session: c.Session}
}

// objected is the error of a check inside an update: nothing is written.
type objectionError struct {
	all  []session.Decision
	head uint64
}

func (objectionError) Error() string { return "session policy objects" }

// ask calls the store: inline if it is in memory, else under a deadline.
func ask[T any](ctx context.Context, g *Gate, f func(context.Context) (T, error)) reply[T] {
	if g.stall != nil {
		return during(ctx, g.stall, &g.ports.sessions, false, f)
	}
	if !g.local {
		return invoke(ctx, &g.ports.sessions, g.limits.Store, f)
	}
	if ctx.Err() != nil {
		return reply[T]{fault: gone, err: context.Cause(ctx)}
	}
	return inline(ctx, f)
}

// load reads cells.
func (g *Gate) load(ctx context.Context, o session.Owner, keys []session.Key) reply[session.State] {
	r := ask(ctx, g, func(ctx context.Context) (session.State, error) {
		return g.store.Load(ctx, o, keys)
	})
	g.reportTrouble("store", "", r.fault, r.err)
	return r
}

// update runs decide on current cells and writes its change. The value is local to the call
// of the store, so that an update that was given up does not write to shared memory.
func update[T any](ctx context.Context, g *Gate, o session.Owner, keys []session.Key, decide func(session.State) (Change, T, error)) reply[T] {
	r := ask(ctx, g, func(ctx context.Context) (T, error) {
		var value T
		var decideErr error
		err := g.store.Update(ctx, o, keys, func(s session.State) (Change, error) {
			change, v, err := decide(s)
			value, decideErr = v, err
			return change, err
		})
		if err != nil && decideErr == nil && ctx.Err() == nil {
			g.reportTrouble("store", "", failed, err)
		}
		return value, err
	})
	if r.fault != failed {
		g.reportTrouble("store", "", r.fault, r.err)
	}
	return r
}

// loadSessionData loads the session's data if rules depend on it (K60). Data that cannot be
// read is unknown.
func (p *pending) loadSessionData(ctx context.Context) {
	if !p.under.looksAtSessions || p.g.store == nil || p.call.Session == "" {
		return
	}
	r := p.g.load(ctx, owner(&p.call), []session.Key{session.DataKey})
	if r.fault != none {
		return
	}
	text := "{}"
	if cell, _ := r.value.Cell(session.DataKey); cell.Text != "" {
		text = cell.Text
	}
	p.data, _ = jsonstream.Parse([]byte(text), jsonstream.Options{})
}

// beginSession determines the horizon of the call (S8) and asks the session policies that need
// no arguments.
func (p *pending) beginSession(ctx context.Context) {
	g := p.g
	all := p.under.policies(p.turn.policiesAtStart(g.registry))
	p.tool = p.under.name(p.call.Tool)
	p.set = p.cache.policiesFor(all, p.tool)
	p.governed = p.set.Len() > 0
	if all.Len() == 0 && !p.under.inherits {
		return
	}
	governed := p.governed
	if g.store == nil {
		if governed {
			p.fail(stopgate.CodeStoreUnavailable, "no store", none, "")
		}
		return
	}
	early := p.set.Early(p.tool)
	if head, begun := p.turn.horizonIfKnown(); begun && !governed && !p.under.inherits {
		p.horizon = head
		return
	}
	keys := []session.Key{session.Self}
	c := session.Call{Proposal: p.id, Tool: p.tool, Agent: p.call.Agent, Turn: p.call.Turn, ID: p.call.ID}
	if early {
		keys = p.set.Needs(c)
	}
	if p.under.inherits {
		keys = append(keys, inheritKey(p.call.Agent))
	}
	r := g.load(ctx, owner(&p.call), keys)
	if r.fault != none {
		if governed || p.under.inherits {
			p.storeFault(r.fault, r.err, r.stack)
		}
		return
	}
	if inherited, _ := r.value.Cell(inheritKey(p.call.Agent)); inherited.Text != "" {
		p.senders = strings.Split(inherited.Text, "\n")
	}
	p.horizon = p.turn.begin(r.value.Head)
	if !governed {
		return
	}
	if p.turn.unreadable {
		p.storeFault(failed, nil, "")
		return
	}
	if p.kind == ToolCall {
		p.watch()
	}
	if g.uncertain(owner(&p.call), r.value) {
		p.deny(stopgate.LayerSession, stopgate.CodeSessionDegraded)
		return
	}
	if early {
		v := p.sessionView(r.value)
		_, all := p.set.CheckEach(&v, &c, p.foreignRunner(ctx))
		p.applyObjections(all, r.value.Head)
	}
	if governed && p.shared() && !p.isTerminal() {
		p.turn.join(p.id, session.ToolKey(p.tool))
	}
}

func (p *pending) sessionView(s session.State) session.View {
	return session.View{
		State: p.turn.isolated.overlay(s), Owner: owner(&p.call), Now: p.g.now().UnixMilli(), Horizon: p.horizonAt(s.Head), UnderWay: p.turn.underWay(p.id),
	}
}

// horizonAt returns the position up to which permits count in a check on the facts at head.
// A call that is a turn by itself, and about which neither a person nor a model is asked, is
// decided on the facts of the check alone, as if it had come at that moment (I19).
func (p *pending) horizonAt(head uint64) uint64 {
	if p.turn == &p.solo && !p.waited {
		return head
	}
	return p.horizon
}

type policyRunner func(session.Policy, func() session.Decision) session.Decision

// foreignRunner returns the function that calls foreign session policies under a deadline
// (FM15); the gate's own are bounded by construction (K39). It is nil without foreign
// policies.
func (p *pending) foreignRunner(ctx context.Context) policyRunner {
	if !p.set.Foreign(p.tool) {
		return nil
	}
	return func(policy session.Policy, f func() session.Decision) session.Decision {
		r := invoke(ctx, &p.g.ports.policies, p.g.limits.Policy, func(context.Context) (session.Decision, error) { return f(), nil })
		if r.fault != none {
			p.g.reportTrouble("policy "+policy.Name(), p.id, r.fault, r.err)
			return session.Deny(policyFault(r.fault, r.err), "")
		}
		return r.value
	}
}

// storeFault denies because the state cannot be read or written (FM2).
func (p *pending) storeFault(f fault, err error, stack string) {
	if f == gone {
		p.fail(goneCode(err), "sessions", f, "")
		return
	}
	p.fail(stopgate.CodeStoreUnavailable, "sessions", f, stack)
}

// checkSessionsAtClose asks the session policies that need arguments when the arguments are
// complete (S8); p.mu is held, and released while a store is called.
func (p *pending) checkSessionsAtClose() {
	if p.terminal || p.final == nil || p.g.store == nil || !p.set.Keyed(p.tool) {
		return
	}
	ctx := context.Background() // bounded by the limits of the store and of policies
	var c session.Call
	if !p.sessionCall(&c) {
		p.addFailure(stopgate.CodePolicyError, "sessions", none, "")
		return
	}
	var seen sessionCheck
	if p.g.local && !p.set.Foreign(p.tool) {
		seen = p.checkSessions(ctx, c)
	} else {
		p.mu.Unlock()
		seen = p.checkSessions(ctx, c)
		p.mu.Lock()
	}
	if seen.code != "" {
		p.addFailure(seen.code, "sessions", seen.fault, seen.stack)
		return
	}
	p.applyObjectionsLocked(seen.all, seen.head)
}

// glance is the answer of the session policies at one position, or why there is none.
type sessionCheck struct {
	all   []session.Decision
	head  uint64
	code  stopgate.Code
	fault fault
	stack string
}

func (p *pending) checkSessions(ctx context.Context, c session.Call) sessionCheck {
	keys, _, asked := p.cachedNeeds(ctx, &c)
	if asked.fault != none {
		return sessionCheck{code: policyFault(asked.fault, asked.err), fault: asked.fault, stack: asked.stack}
	}
	state := p.g.load(ctx, owner(&p.call), keys)
	if state.fault != none {
		return sessionCheck{code: stopgate.CodeStoreUnavailable, fault: state.fault, stack: state.stack}
	}
	v := p.sessionView(state.value)
	_, all := p.set.CheckEach(&v, &c, p.foreignRunner(ctx))
	return sessionCheck{all: all, head: state.value.Head}
}

// applyObjections applies the answer of the session policies: all objections are recorded, and
// the first decides (X2).
func (p *pending) applyObjections(all []session.Decision, head uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.applyObjectionsLocked(all, head)
}

func (p *pending) applyObjectionsLocked(all []session.Decision, head uint64) {
	if len(all) == 0 {
		return
	}
	p.factsAt = head
	p.objections = nil
	for _, d := range all {
		p.objections = append(p.objections, d.Policy+": "+string(d.Code))
	}
	p.decisions = all
	first, layer := all[0], stopgate.LayerSession
	if l := layerOf(first.Code); l == stopgate.LayerFailure || l == stopgate.LayerApproval {
		layer = l // a policy that gave no answer
		if !p.terminal {
			p.cause = "session policy " + first.Policy
		}
	}
	v := p.refusal(layer, first.Code)
	if first.Public != "" {
		v.Public = first.Public
	}
	p.addVerdict(v)
}

// askSessions runs the session policies before people and judges are asked. They are checked
// again at the release, see commitRelease.
func (p *pending) askSessions(ctx context.Context) {
	if p.g.store == nil || p.call.Session == "" && !p.set.Governs(p.tool) {
		return
	}
	var c session.Call
	if !p.sessionCall(&c) {
		p.fail(stopgate.CodePolicyError, "sessions", none, "")
		return
	}
	keys, _, ok := p.needsOrFail(ctx, &c)
	if !ok {
		return
	}
	sticky := p.stickyKey()
	r := p.g.load(ctx, owner(&p.call), append(slices.Clip(keys), sticky))
	if r.fault != none {
		if p.set.Governs(p.tool) {
			p.storeFault(r.fault, r.err, r.stack)
		}
		return
	}
	if p.turn == &p.solo && !p.waited {
		p.waited, p.horizon = true, r.value.Head
	}
	v := p.sessionView(r.value)
	_, all := p.set.CheckEach(&v, &c, p.foreignRunner(ctx))
	p.applyObjections(all, r.value.Head)
	self, _ := r.value.Cell(session.Self)
	if declined, _ := r.value.Cell(sticky); p.call.Session != "" && declined.Text != "" && declined.Seq > self.Condition().Spoke && !p.isTerminal() {
		p.deny(stopgate.LayerApproval, stopgate.CodeApprovalDeclined)
	}
}

// stickyKey returns the key of declined approvals of the identical call (S27).
func (p *pending) stickyKey() session.Key {
	return session.Key{Space: session.SpaceSticky, Name: string(p.tool), Value: p.hash}
}
