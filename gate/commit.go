package gate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// commit is the last layer of the pipeline: it makes the outcomes of calls in their order. The
// session policies are asked on current facts, the row is written, and only then the arguments
// are released. Neighbours that are released are committed together. An edited proposal takes
// the position of the call that it replaces.
func (g *Gate) commit(ctx context.Context, calls []resolution) {
	var leaving []*commitment
	waited := false // for a person, since the final check of the calls that follow
	flush := func() {
		switch {
		case len(leaving) == 0:
		case !g.sessions.exists():
			finishTogether(ctx, leaving)
		default:
			waited = releaseTogether(ctx, leaving, waited)
		}
		leaving = leaving[:0]
	}
	for _, r := range calls {
		if child := r.call.approval.edited; child != nil {
			flush()
			r.call.commit(ctx, true, waited)
			if v := &r.call.out.Verdict; v.Terminal() {
				child.deny(v.Layer, v.Code)
			}
			child.commit(ctx, false, waited)
			continue
		}
		c := &commitment{p: r.call}
		c.decide()
		if c.releases || !g.sessions.exists() {
			leaving = append(leaving, c)
			continue
		}
		flush()
		c.finish(ctx)
	}
	flush()
}

// commit makes the outcome of one call.
func (p *pending) commit(ctx context.Context, edited, waited bool) {
	c := commitment{p: p, edited: edited}
	c.decide()
	if c.releases {
		c.release(ctx, waited)
	}
	c.finish(ctx)
}

// commitment is a call while its outcome is made. From here on only these change the verdict: an
// objection of a session policy on current facts, and a row that cannot be written. An allow
// without its row is a denial (I22, H19).
type commitment struct {
	p          *pending
	edited     bool             // another proposal takes the place of the call
	row        *stopgate.Record // nil without a recorder and a tracer
	args       []byte           // the arguments that run if the call is allowed; see finished
	shown      string           // the arguments as a tracer may see them
	result     resultVerdict
	releases   bool // with a fact in the store
	wrote      bool // the row, with the facts
	rowLost    bool // the row is counted as lost, or spooled
	spooled    bool // the latter
	texts      bool // the texts of the session have the call
	denial     denialCount
	denialCode stopgate.Code // of a denial whose code is that of the limit
	late       *pending      // the proposal that a person edited the call into in the step of the release

	// The facts that the store accepted, and the position before them.
	facts []session.Fact
	head  uint64
}

// decide makes the outcome from the current verdict.
func (c *commitment) decide() {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.applyLockdown()
	p.stage = committed
	c.conclude()
	judged := p.args.final != nil && p.verdicts.eval != nil
	if p.g.tracer != nil && judged {
		c.shown = p.g.tracer.show(p.verdicts.eval.Document().Root())
	}
	c.releases = p.g.sessions.exists() && judged && (p.out.Status == stopgate.Allowed || !p.out.Enforced && !c.edited)
	if p.out.Status == stopgate.Allowed || !p.out.Enforced {
		c.resultRules()
	}
}

// conclude makes the outcome from the current verdict, and the row if there is a recorder or
// a tracer; p.mu is held.
func (c *commitment) conclude() {
	p := c.p
	v, out, approval := p.verdicts.latest(), &p.out, p.approval.given
	*out = stopgate.Outcome{Proposal: p.id, Enforced: !p.under.observe, Status: stopgate.Denied, Judge: p.judges.review}
	switch {
	case p.verdicts.terminal:
		approval = nil
	case p.under.observe:
	case c.edited:
	case v.Mode.Permissive(), approval != nil:
		out.Status = stopgate.Allowed
	default: // an ask without an answer: unreachable, and denied
		p.addVerdict(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
	}
	if v = p.verdicts.latest(); v.Mode == stopgate.Skip && p.verdicts.terminal {
		out.Status = stopgate.Skipped
	}
	if c.args = nil; out.Status == stopgate.Allowed {
		c.args, out.Approval = p.args.released(), approval
	}
	if p.g.rows {
		if out.Status == stopgate.Allowed && v.Layer == stopgate.LayerGate {
			decided := p.gates.decided(*v)
			v = &decided
		}
		c.makeRow(v, approval)
	}
}

// finish applies the result of the release, and writes the row unless the store did.
func (c *commitment) finish(ctx context.Context) {
	if c.ready(ctx); !c.wrote {
		c.write(ctx)
	}
	c.finished(ctx)
	if child := c.late; child != nil {
		if v := &c.p.out.Verdict; v.Terminal() {
			child.deny(v.Layer, v.Code)
		}
		child.commit(ctx, false, false)
	}
}

// ready completes the row and counts a denial.
func (c *commitment) ready(ctx context.Context) {
	p := c.p
	if c.releases {
		p.mu.Lock()
		if c.facts != nil {
			p.sessions.factsAt, p.sessions.releaseFacts = c.head, c.facts
		}
		switch {
		case p.verdicts.terminal && p.out.Status == stopgate.Allowed:
			c.conclude()
		case !c.wrote && c.row != nil:
			c.row.FactsAt = p.sessions.factsAt
		}
		p.mu.Unlock()
	}
	if p.out.Status == stopgate.Denied && p.out.Enforced && !c.edited {
		c.denial = c.countDenial(ctx)
		if c.wrote = c.wrote || c.denial.wrote; c.denial.limited {
			c.applyDenialLimit()
		}
	}
}

// write writes the row without facts.
func (c *commitment) write(ctx context.Context) {
	audit := c.p.g.audit
	switch {
	case c.spooled:
		c.written(nil)
	case c.rowLost: // it is counted
		c.written(audit.Try(ctx, c.row))
	case len(c.p.heldRows) > 0:
		c.written(audit.WriteAll(ctx, c.rows(nil)))
	default:
		c.written(audit.Write(ctx, c.row))
	}
}

// written applies the result of writing the row: an allow without its row is denied (I22).
func (c *commitment) written(err error) {
	out := &c.p.out
	if err != nil && (out.Status == stopgate.Allowed || c.edited) && out.Enforced {
		c.p.deny(stopgate.LayerFailure, c.p.g.rowUnavailable())
		out.Status, out.Approval, c.args = stopgate.Denied, nil, nil
	}
}

// finished ends the call after its row was written or lost. Here, and nowhere else, arguments are
// released.
func (c *commitment) finished(ctx context.Context) {
	p := c.p
	out := &p.out
	if out.Status != stopgate.Allowed && out.Enforced {
		p.sessions.withdraw(ctx)
		p.turn.ReturnTransition(p.id)
		if !c.edited {
			p.approval.giveBackUnused(ctx)
		}
	}
	c.announceHeldRows(ctx)
	p.mu.Lock()
	out.Verdict = *p.verdicts.latest()
	switch {
	case out.Status == stopgate.Allowed: // the row is durable: the arguments are released (I22)
		out.Args, out.Verdict = c.args, p.gates.decided(out.Verdict)
		if p.bound.rules != nil {
			out.Access = p.bound.rules.Access().And(p.access)
		}
	case !out.Enforced && out.Verdict.Code != stopgate.CodeCancelled:
		out.Status = stopgate.Allowed
		if p.args.received <= maxRaw {
			out.Args, p.args.lent = p.args.raw, true
		}
	}
	under, added := p.g.current.Load().of(p.call.Session), []byte(nil)
	if out.Args != nil && !c.texts && p.entersTexts(under) {
		if added = p.args.own; !bytes.Equal(added, out.Args) {
			added = bytes.Clone(out.Args) // which belong to the caller
		}
	}
	c.settle()
	p.mu.Unlock()
	if added != nil {
		p.addCall(ctx, under, added)
	}
	c.trace(ctx)
	if c.denial.first {
		c.notifyStopped(ctx)
	}
}

// settle keeps the release for its result and gives up the buffers of the call; p.mu is held.
func (c *commitment) settle() {
	p := c.p
	if p.out.Status == stopgate.Allowed && !c.storeKnows() {
		p.g.released.Put(p.id, c.awaitedResult())
	}
	p.verdicts.settle(p.args.received <= maxReused)
	p.args.settle()
	p.sessions.releaseFacts = nil
	p.stage = settled
	if p.shared() {
		p.turn.Leave(p.id)
	}
}

// storeKnows reports whether the facts of the release, which an in-memory store returns at
// once, are enough to process the result.
func (c *commitment) storeKnows() bool {
	p, result := c.p, &c.result.verdict
	return p.g.sessions.local && p.sessions.releaseFacts != nil && p.parent == "" && c.result.args == nil && result.Decided && result.Mode.Permissive()
}
