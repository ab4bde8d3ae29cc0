package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
)

// askPolicies runs the tool policies. The first that forbids ends the call (G2-08 to
// G2-12). None of them loosens the verdict of a file; a tool that no file knows runs if one
// permits it (S2).
func (p *pending) askPolicies(ctx context.Context, prop *Proposal) {
	for _, tp := range p.g.policies {
		if p.isTerminal() {
			return
		}
		if p.askPolicy(ctx, tp.Name(), func(ctx context.Context) (Decision, error) { return tp.Check(ctx, *prop) }) {
			p.permitted = true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requirePermit(p.rules)
}

// requirePermit denies a tool that no file knows and no policy permitted, or asks about it
// if the files are configured so (S2); p.mu is held.
func (p *pending) requirePermit(r Rules) {
	otherwise, unknown := r.Unknown()
	if !unknown || p.permitted || p.terminal {
		return
	}
	v := p.refusal(stopgate.LayerIntegrity, stopgate.CodePolicyNotConfigured)
	v.Mode = otherwise
	p.addVerdict(v)
}

// askPolicy asks one policy and reports whether it permits.
func (p *pending) askPolicy(ctx context.Context, name string, check func(context.Context) (Decision, error)) bool {
	r := invoke(ctx, &p.g.ports.policies, p.g.limits.Policy, check)
	d := r.value
	switch {
	case r.fault != none:
		d = Decision{Kind: Forbid, Reason: policyFault(r.fault, r.err)}
		p.g.reportTrouble("policy "+name, p.id, r.fault, r.err)
		p.fail(d.Reason, "policy "+name, r.fault, r.stack)
	case d.Kind == NoOpinion:
		return false
	case d.Kind != Permit && d.Kind != Forbid, !d.Reason.Valid():
		d = Decision{Kind: Forbid, Reason: stopgate.CodeInvalidPolicyResult}
		p.g.reportTrouble("policy "+name, p.id, failed, fmt.Errorf("invalid decision: kind %d, reason %q", r.value.Kind, r.value.Reason))
		p.fail(d.Reason, "policy "+name, none, "")
	case d.Kind == Forbid:
		p.forbid(stopgate.LayerGate, d.Reason, d.Public)
	}
	p.opinions = append(p.opinions, opinion{name, d})
	return d.Kind == Permit
}

// policyFault returns the code for a tool policy that gave no answer (FM15).
func policyFault(f fault, err error) stopgate.Code {
	switch f {
	case late, crowded:
		return stopgate.CodePolicyTimeout
	case gone:
		return goneCode(err)
	}
	return stopgate.CodePolicyError
}

// goneCode returns the code for a call whose context ended while a layer worked.
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

// forbid denies on behalf of a layer, with the sentence public unless it is "".
func (p *pending) forbid(layer stopgate.Layer, code stopgate.Code, public string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.refusal(layer, code)
	if public != "" {
		v.Public = public
	}
	p.addVerdict(v)
}

// fail denies because a layer gave no usable answer.
func (p *pending) fail(code stopgate.Code, who string, f fault, stack string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addFailure(code, who, f, stack)
}

// addFailure is fail with p.mu held.
func (p *pending) addFailure(code stopgate.Code, who string, f fault, stack string) {
	p.setCause(who, f, stack)
	layer := stopgate.LayerFailure
	if code == stopgate.CodeClientGone {
		layer = stopgate.LayerApproval
	}
	p.addVerdict(p.refusal(layer, code))
}

// setCause sets the cause of the row to the name of the part that failed and its fault, without
// its text (H17); p.mu is held.
func (p *pending) setCause(who string, f fault, stack string) {
	if f == none {
		who += ": invalid answer"
	} else {
		who += ": " + f.String()
	}
	if stack != "" {
		who += " " + stack
	}
	if !p.terminal {
		p.cause = who
	}
}
