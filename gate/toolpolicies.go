package gate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
)

// gateLayer holds the answers of the policies in Go about a call.
type gateLayer struct {
	p         *pending
	permitted bool      // a tool policy permitted the call
	denyMode  DenyMode  // of the policy that denied the call
	opinions  []opinion // of tool and handoff policies, for the trace
}

// opinion is the answer of one policy in Go.
type opinion struct {
	policy   string
	decision Decision
}

// toolPolicies is the layer of the tool policies. The first that forbids ends the call (G2-08 to
// G2-12). None of them loosens the verdict of a file; a tool that no file knows runs if one
// permits it (S2).
func toolPolicies(ctx context.Context, p *pending) {
	if p.kind != ToolCall {
		return
	}
	for _, policy := range p.g.policies {
		if p.isTerminal() {
			return
		}
		if p.gates.ask(ctx, policy.Name(), p.g.limits.Policy, func(ctx context.Context) (Decision, error) { return policy.Check(ctx, *p.proposal) }) {
			p.gates.permitted = true
		}
	}
	p.gates.permitted = p.gates.askTool(ctx, p.under.gates(p.call.Tool)) || p.gates.permitted
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gates.requirePermit(p.bound.rules)
}

// requirePermit denies a tool that no file knows and no policy permitted, or asks about it
// if the files are configured so (S2); p.mu is held.
func (l *gateLayer) requirePermit(r Rules) {
	otherwise, unknown := r.Unknown()
	if !unknown || l.permitted || l.p.verdicts.terminal {
		return
	}
	v := l.p.refusal(stopgate.LayerIntegrity, stopgate.CodePolicyNotConfigured)
	v.Mode = otherwise
	l.p.addVerdict(v)
}

// ask asks one policy and reports whether it permits.
func (l *gateLayer) ask(ctx context.Context, name string, limit time.Duration, check func(context.Context) (Decision, error)) bool {
	p := l.p
	r := port.Invoke(ctx, &p.g.guards.policies, limit, check)
	d := r.Value
	switch {
	case r.Fault != port.None:
		d = Decision{Kind: Forbid, Reason: policyFault(r.Fault, r.Err)}
		p.g.reportTrouble("policy "+name, p.id, r.Fault, r.Err)
		p.fail(d.Reason, "policy "+name, r.Fault, r.Stack)
	case d.Kind == NoOpinion:
		return false
	case d.Kind != Permit && d.Kind != Forbid, !d.Reason.Valid(), d.DenyMode > DenyToolResult:
		d = Decision{Kind: Forbid, Reason: stopgate.CodeInvalidPolicyResult}
		p.g.reportTrouble("policy "+name, p.id, port.Failed, fmt.Errorf("invalid decision: kind %d, reason %q, deny mode %d", r.Value.Kind, r.Value.Reason, r.Value.DenyMode))
		p.fail(d.Reason, "policy "+name, port.None, "")
	case d.Kind == Forbid:
		p.forbid(stopgate.LayerGate, d.Reason, d.Public)
		l.denyMode = d.DenyMode
	}
	l.opinions = append(l.opinions, opinion{name, d})
	return d.Kind == Permit
}

// decided returns the verdict of an allowed call with the reason of the policy in Go that permitted
// it, if no rule of a file did (G2-17).
func (l *gateLayer) decided(v stopgate.Verdict) stopgate.Verdict {
	if v.Layer != stopgate.LayerGate || v.Rule != nil {
		return v
	}
	for _, o := range l.opinions {
		if d := o.decision; d.Kind == Permit {
			v.Code, v.Public = d.Reason, cmp.Or(d.Public, "A policy of the program permits this call.")
		}
	}
	return v
}

// denial returns the error of a denied outcome in deny mode throw: that of the policy that
// denied, else that of the gate.
func (l *gateLayer) denial(out *stopgate.Outcome) error {
	p := l.p
	over := p.g.denyMode
	if out.Verdict.Layer == stopgate.LayerGate {
		over = cmp.Or(l.denyMode, over)
	}
	return p.under.denial(over, p.kind, out)
}
