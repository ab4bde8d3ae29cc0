package gate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate"
)

// finalCheck is the layer of the policy in force now, if it is another than the one that the
// call began with: the strictest verdict wins, and an ask of the new policy is approval_stale,
// because no approver has seen it (S16).
func finalCheck(ctx context.Context, p *pending) {
	if p.under.observe {
		return
	}
	checkCurrentRules(ctx, p)
	p.gates.askCurrent(ctx)
	p.judges.askCurrent(ctx)
}

// checkCurrentRules evaluates the call again under the policy in force, with the current texts.
func checkCurrentRules(ctx context.Context, p *pending) {
	now := p.g.current.Load().of(p.call.Session)
	if now.hash == p.under.hash || now.observe {
		return
	}
	texts, _ := p.g.texts.view(ctx, now, p.conversation())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.verdicts.terminal {
		return
	}
	defer p.recoverPolicy()
	p.verdicts.judgedBy = now
	b := p.bind(now, texts)
	e := b.rules.Evaluate(texts)
	e.Feed(p.args.final)
	v := e.Close(stopgate.Ended)
	if otherwise, unknown := b.rules.Unknown(); unknown && !p.gates.permitted && v.Mode.Permissive() {
		v = p.refusal(stopgate.LayerIntegrity, stopgate.CodePolicyNotConfigured)
		v.Mode = otherwise
	}
	switch {
	case v.Terminal():
		p.addVerdict(v)
	case !v.Decided, !v.Mode.Permissive(), !bytes.Equal(e.Args(), p.args.final):
		p.addVerdict(p.refusal(stopgate.LayerApproval, stopgate.CodeApprovalStale))
	default:
		p.verdicts.judgedBy = nil
		p.access = p.access.And(b.rules.Access())
	}
}
