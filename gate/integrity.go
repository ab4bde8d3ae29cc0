package gate

import (
	"context"

	"github.com/stopgate/stopgate"
)

// integrity is the first layer of the pipeline. A call that reached it without a verdict of the
// rules or without complete arguments is a fault of the evaluator, and is denied. It makes the
// proposal for the next layers.
func integrity(_ context.Context, p *pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proposal = p.propose()
}

// propose returns the call for the layers after the rules, nil if it is denied; p.mu is held.
func (p *pending) propose() *Proposal {
	v := p.verdicts.latest()
	if p.args.final == nil || !v.Decided {
		p.addVerdict(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
		return nil
	}
	prop := &Proposal{
		ID: p.id, Parent: p.parent, Call: p.call, ArgsHash: p.args.hash, Verdict: *v,
		Policy: p.under.hash, Definition: p.bound.definition, To: p.handoff.to,
	}
	if len(p.g.policies) > 0 || len(p.g.handoffs) > 0 || len(p.under.externals) > 0 || p.g.judge != nil || len(p.under.reviewers) > 0 {
		prop.Args = string(p.args.final)
	}
	if p.keepsRaw() {
		prop.Raw = string(p.args.raw)
	}
	return prop
}
