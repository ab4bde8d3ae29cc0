package gate

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// The session policies are asked while the arguments arrive: about one argument that a policy
// watches, and about all of them when they are complete.

// watch selects the arguments by which session policies can deny the call before it is
// complete (S8).
func (l *sessionLayer) watch() {
	p := l.p
	defer p.recoverPolicy()
	if pointers := l.set.Watched(l.tool); len(pointers) > 0 && p.verdicts.eval != nil {
		p.verdicts.eval.Watch(pointers)
		p.args.watches = true
	}
}

// watched returns the watched argument that is complete; p.mu is held.
func (l *sessionLayer) watched() (pointer jsonstream.Pointer, value []byte, ok bool) {
	p := l.p
	if p.verdicts.terminal || p.verdicts.eval == nil {
		return nil, nil, false
	}
	defer p.recoverPolicy()
	return p.verdicts.eval.Watched()
}

// checkEarly asks the session policies that can deny by one argument, with its value as
// JSON. p.mu is held, and released while the store is waited for.
func (l *sessionLayer) checkEarly(pointer jsonstream.Pointer, value []byte) {
	p := l.p
	object := append(append(jsonstream.AppendQuote([]byte("{"), pointer[0]), ':'), value...)
	args, err := jsonstream.Parse(append(object, '}'), jsonstream.Options{})
	if err != nil {
		return
	}
	set := l.set.Seen(l.tool, pointer)
	c := session.Call{Proposal: p.id, Tool: l.tool, Agent: p.call.Agent, Turn: p.call.Turn, ID: p.call.ID, Args: args, Paths: p.bound.isPath}
	ctx := context.Background() // bounded by the limit of the store
	check := func() ([]session.Decision, uint64) {
		state := p.g.sessions.load(ctx, owner(&p.call), set.Needs(c))
		if state.Fault != port.None {
			return nil, 0 // the complete call is checked again, and denied then
		}
		v := l.view(state.Value)
		_, all := set.CheckEach(&v, &c, l.runner(ctx))
		return all, state.Value.Head
	}
	var all []session.Decision
	var head uint64
	if p.g.sessions.local {
		all, head = check()
	} else {
		p.mu.Unlock()
		all, head = check()
		p.mu.Lock()
	}
	if all = l.denials(all); !l.premature(all) {
		l.applyLocked(all, head)
	}
}

// checkAtClose asks the session policies that need arguments when the arguments are
// complete (S8); p.mu is held, and released while a store is called.
func (l *sessionLayer) checkAtClose() {
	p := l.p
	if p.verdicts.terminal || p.args.final == nil || !p.g.sessions.exists() || !l.early && !l.set.Keyed(l.tool) {
		return
	}
	ctx := context.Background() // bounded by the limits of the store and of policies
	var c session.Call
	if !l.call(&c) {
		p.addFailure(stopgate.CodePolicyError, "sessions", port.None, "")
		return
	}
	var seen sessionCheck
	if p.g.sessions.local && !l.set.Foreign(l.tool) {
		seen = l.check(ctx, c)
	} else {
		p.mu.Unlock()
		seen = l.check(ctx, c)
		p.mu.Lock()
	}
	if seen.code != "" {
		p.addFailure(seen.code, "sessions", seen.fault, seen.stack)
		return
	}
	l.applyLocked(seen.all, seen.head)
}

// sessionCheck is the answer of the session policies at one position, or why there is none.
type sessionCheck struct {
	all   []session.Decision
	head  uint64
	code  stopgate.Code
	fault port.Fault
	stack string
}

// check asks the session policies on the current facts.
func (l *sessionLayer) check(ctx context.Context, c session.Call) sessionCheck {
	asked := l.needs(ctx, &c)
	if asked.Fault != port.None {
		return sessionCheck{code: policyFault(asked.Fault, asked.Err), fault: asked.Fault, stack: asked.Stack}
	}
	state := l.p.g.sessions.load(ctx, owner(&l.p.call), asked.Value.keys)
	if state.Fault != port.None {
		return sessionCheck{code: stopgate.CodeStoreUnavailable, fault: state.Fault, stack: state.Stack}
	}
	v := l.view(state.Value)
	_, all := l.set.CheckEach(&v, &c, l.runner(ctx))
	return sessionCheck{all: all, head: state.Value.Head}
}

// apply applies the answer of the session policies: all objections are recorded, and the primary
// one decides (X2).
func (l *sessionLayer) apply(all []session.Decision, head uint64) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.applyLocked(all, head)
}

// applyEarly is apply for an answer before the arguments are complete: only denials count. The
// question of a policy is opened when the call is complete, and on the facts of that moment.
func (l *sessionLayer) applyEarly(all []session.Decision, head uint64) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if denials := l.denials(all); len(denials) > 0 {
		l.applyLocked(denials, head)
	}
}

// denials returns the objections that deny, and remembers that there are others; p.mu is held.
func (l *sessionLayer) denials(all []session.Decision) (denials []session.Decision) {
	for i := range all {
		if all[i].Ask {
			l.early = true
		} else {
			denials = append(denials, all[i])
		}
	}
	return denials
}

// applyLocked is apply with p.mu held.
func (l *sessionLayer) applyLocked(all []session.Decision, head uint64) {
	p := l.p
	l.asks = nil
	if len(all) == 0 {
		p.approval.show()
		return
	}
	l.factsAt = head
	l.objections = nil
	primary := &all[0]
	for i := range all {
		d := &all[i]
		l.objections = append(l.objections, d.Policy+": "+string(d.Code))
		if d.Ask {
			l.asks = append(l.asks, *d)
		} else if primary.Ask {
			primary = d
		}
	}
	l.decisions = all
	layer := stopgate.LayerSession
	if l := layerOf(primary.Code); l == stopgate.LayerFailure || l == stopgate.LayerApproval {
		layer = l // a policy that gave no answer
		if !p.verdicts.terminal {
			p.verdicts.cause = "session policy " + primary.Policy
		}
	}
	v := p.refusal(layer, primary.Code)
	if primary.Public != "" {
		v.Public = primary.Public
	}
	if primary.Ask {
		v.Mode = stopgate.Ask
	}
	p.addVerdict(v)
	p.approval.show()
}

// objectionsHash identifies the objections that a person is asked about, "" if there are none;
// p.mu is held.
func (l *sessionLayer) objectionsHash() string {
	if len(l.asks) == 0 {
		return ""
	}
	var names []string
	for i := range l.asks {
		names = append(names, l.asks[i].Identity())
	}
	slices.Sort(names)
	return rows.Hex(sha256.Sum256([]byte(strings.Join(names, "\n"))))
}

// missing lists the objections for the person who is asked; p.mu is held.
func (l *sessionLayer) missing() (texts []string) {
	for i := range l.asks {
		texts = append(texts, l.asks[i].Text())
	}
	return texts
}

// premature reports that the objections are about prerequisites that an incomplete call of the
// same turn may satisfy: the policies are asked again when the call is complete.
func (l *sessionLayer) premature(all []session.Decision) bool {
	p := l.p
	for _, d := range all {
		if d.Code != stopgate.CodePrerequisiteMissing && d.Code != stopgate.CodeReadRequired {
			return false
		}
	}
	return p.shared() && p.turn.Arriving(p.id)
}

// announce adds the cells that the complete call would permit to its turn; p.mu is held, and
// released while policies in Go are called.
func (l *sessionLayer) announce() {
	p := l.p
	if !p.shared() || !l.governed || p.verdicts.terminal || p.args.final == nil {
		return
	}
	var c session.Call
	if !l.call(&c) {
		return // denied when the session policies are asked
	}
	foreign := l.set.Foreign(l.tool)
	if foreign {
		p.mu.Unlock()
	}
	r := l.needs(context.Background(), &c) // bounded by the limit of policies
	if foreign {
		p.mu.Lock()
	}
	if r.Fault != port.None {
		return // asked again, and denied, before the call leaves
	}
	var keys []session.Key
	for _, m := range r.Value.marks {
		if m.Permits && m.Opens {
			keys = append(keys, m.Key)
		}
	}
	p.turn.Completes(p.id, keys)
}
