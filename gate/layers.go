package gate

import (
	"context"
	"errors"
	"math"

	"github.com/stopgate/stopgate"
)

// askPolicies runs the tool policies. The first that does not permit ends the call
// (G2-08 to G2-12); none of them can loosen.
func (p *pending) askPolicies(ctx context.Context, prop *Proposal) {
	for _, tp := range p.g.policies {
		if p.isOver() {
			return
		}
		p.askPolicy(ctx, tp, *prop)
	}
}

func (p *pending) askPolicy(ctx context.Context, tp ToolPolicy, prop Proposal) {
	r := invoke(ctx, &p.g.ports.policies, p.g.limits.Policy, func(ctx context.Context) (Decision, error) {
		return tp.Check(ctx, prop)
	})
	d := r.value
	switch {
	case r.fault != none:
		p.fail(policyFault(r.fault, r.err), "policy "+tp.Name(), r.fault, r.stack)
	case d.Kind == NoOpinion:
	case d.Kind != Permit && d.Kind != Forbid, !d.Reason.Valid():
		p.fail(stopgate.CodeInvalidPolicyResult, "policy "+tp.Name(), none, "")
	case d.Kind == Forbid:
		p.forbid(stopgate.LayerGate, d.Reason, d.Public)
	}
}

// policyFault is the code of a tool policy that gave no answer (FM15).
func policyFault(f fault, err error) stopgate.Code {
	switch f {
	case late, crowded:
		return stopgate.CodePolicyTimeout
	case gone:
		return goneCode(err)
	}
	return stopgate.CodePolicyError
}

// goneCode says why a call's context ended while a layer worked.
func goneCode(cause error) stopgate.Code {
	var w withdrawn
	switch {
	case errors.As(cause, &w):
		return w.code
	case errors.Is(cause, context.DeadlineExceeded):
		return stopgate.CodePolicyTimeout
	}
	return stopgate.CodeClientGone
}

// askSessions runs the session policies on the facts that the call sees.
func (p *pending) askSessions(ctx context.Context, prop Proposal) {
	p.object(invoke(ctx, &p.g.ports.sessions, p.g.limits.Store, func(ctx context.Context) ([]Objection, error) {
		return p.g.sessions.Check(ctx, prop)
	}))
}

// reserve is the session policies' last word, on current facts.
func (p *pending) reserve(ctx context.Context, prop Proposal) {
	p.mu.Lock()
	p.reserved = true // a reservation may exist from here on, whatever comes back
	p.mu.Unlock()
	p.object(invoke(ctx, &p.g.ports.sessions, p.g.limits.Store, func(ctx context.Context) ([]Objection, error) {
		return p.g.sessions.Reserve(ctx, prop)
	}))
}

// giveBack cancels the reservation of a call that is not released.
func (p *pending) giveBack(ctx context.Context) {
	p.mu.Lock()
	reserved := p.reserved
	p.mu.Unlock()
	if !reserved {
		return
	}
	// A reservation that stays counts against later calls: the strict side.
	invoke(context.WithoutCancel(ctx), &p.g.ports.sessions, p.g.limits.Store, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, p.g.sessions.Cancel(ctx, p.id)
	})
}

// object takes the session policies' answer: all objections are kept, the first
// one decides (REQUIREMENTS X2).
func (p *pending) object(r reply[[]Objection]) {
	switch r.fault {
	case none:
	case gone:
		p.fail(goneCode(r.err), "sessions", r.fault, "")
		return
	case panicked:
		p.fail(stopgate.CodePolicyError, "sessions", r.fault, r.stack)
		return
	default:
		p.fail(stopgate.CodeStoreUnavailable, "sessions", r.fault, "")
		return
	}
	for _, o := range r.value {
		if o.Policy == "" || !o.Code.Valid() {
			p.fail(stopgate.CodeInvalidPolicyResult, "sessions", none, "")
			return
		}
	}
	if len(r.value) == 0 {
		return
	}
	p.mu.Lock()
	for _, o := range r.value {
		p.objections = append(p.objections, o.Policy+": "+string(o.Code))
	}
	p.mu.Unlock()
	p.forbid(stopgate.LayerSession, r.value[0].Code, r.value[0].Public)
}

// consult asks the judge, whose opinion can only tighten (REQUIREMENTS X4, FM1).
func (p *pending) consult(ctx context.Context, prop Proposal) {
	p.mu.Lock()
	prop.Verdict = p.verdict()
	p.mu.Unlock()
	r := invoke(ctx, &p.g.ports.judge, p.g.limits.Judge, func(ctx context.Context) (Opinion, error) {
		return p.g.judge.Judge(ctx, prop)
	})
	o, code := r.value, stopgate.CodeJudgeDenied
	switch {
	case r.fault == gone:
		p.fail(goneCode(r.err), "judge", r.fault, "")
		return
	case r.fault != none, !o.valid():
		p.blame("judge", r.fault, r.stack)
		o, code = Opinion{Mode: p.g.onError}, stopgate.CodeJudgeUnavailable
	case o.Mode.Permissive():
		return
	}
	if o.Public == "" {
		o.Public = code.Public()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.refusal(stopgate.LayerJudge, code)
	v.Mode, v.Public = o.Mode, o.Public
	p.push(v)
}

func (o Opinion) valid() bool {
	switch o.Mode {
	case stopgate.Unattended, stopgate.Ask, stopgate.Deny:
	default:
		return false
	}
	return !math.IsNaN(o.Probability) && o.Probability >= 0 && o.Probability <= 1
}

// forbid denies on behalf of a layer, with its own sentence if it has one.
func (p *pending) forbid(layer stopgate.Layer, code stopgate.Code, public string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.refusal(layer, code)
	if public != "" {
		v.Public = public
	}
	p.push(v)
}

// fail denies because a part of the pipeline gave no usable answer.
func (p *pending) fail(code stopgate.Code, who string, f fault, stack string) {
	p.blame(who, f, stack)
	layer := stopgate.LayerFailure
	if code == stopgate.CodeClientGone {
		layer = stopgate.LayerApproval
	}
	p.deny(layer, code)
}

// blame notes for the record who failed and how, without a word of theirs
// (THREATS H17).
func (p *pending) blame(who string, f fault, stack string) {
	if f == none {
		who += ": invalid answer"
	} else {
		who += ": " + f.String()
	}
	if stack != "" {
		who += " " + stack
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.cause = who
	}
}
