package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy"
)

// commit writes the row and makes the outcome. From here on nothing changes the
// verdict but a row that cannot be written: an allow without its row is a denial
// (INVARIANTS I22, THREATS H19).
func (p *pending) commit(ctx context.Context, approval *stopgate.Approval, edited bool) stopgate.Outcome {
	p.mu.Lock()
	p.stage = committed
	v := p.verdict()
	out := stopgate.Outcome{Proposal: p.id, Enforced: !p.under.observe, Status: stopgate.Denied}
	switch {
	case p.over:
		approval = nil
	case p.under.observe:
	case edited:
	case v.Mode.Permissive(), approval != nil:
		out.Status = stopgate.Allowed
	default: // an ask that nobody answered: no way leads here, and none may
		p.push(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
	}
	if v = p.verdict(); v.Mode == stopgate.Skip && p.over {
		out.Status = stopgate.Skipped
	}
	if out.Status == stopgate.Allowed {
		out.Args = bytes.Clone(p.final)
		out.Approval = approval
	}
	status := statusOf(out, v, edited)
	row := p.row(v, status, approval)
	if out.Status == stopgate.Allowed {
		sum := sha256.Sum256(out.Args)
		row.ReleasedHash = hex.EncodeToString(sum[:])
	}
	p.mu.Unlock()

	err := p.g.ledger.write(ctx, row)
	if err != nil && (out.Status == stopgate.Allowed || edited) && out.Enforced {
		p.mu.Lock()
		p.push(p.refusal(stopgate.LayerFailure, stopgate.CodeAuditUnavailable))
		p.mu.Unlock()
		out.Status, out.Args, out.Approval = stopgate.Denied, nil, nil
	}
	if out.Status != stopgate.Allowed && out.Enforced {
		p.giveBack(ctx)
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	out.Verdict = p.verdict()
	if !out.Enforced && status != stopgate.StatusCancelled {
		out.Status, out.Args = stopgate.Allowed, p.raw
		if p.received > maxRaw {
			out.Args = nil
		}
	}
	p.end(out, row)
	return out
}

// statusOf names the end of a proposal for its row.
func statusOf(out stopgate.Outcome, v stopgate.Verdict, edited bool) stopgate.RecordStatus {
	switch {
	case v.Code == stopgate.CodeCancelled:
		return stopgate.StatusCancelled
	case v.Code == stopgate.CodeStreamTruncated, v.Code == stopgate.CodeTruncatedArguments:
		return stopgate.StatusTruncated
	case !out.Enforced:
		return stopgate.StatusObserved
	case edited && !v.Terminal():
		return stopgate.StatusEdited
	case out.Status == stopgate.Allowed:
		return stopgate.StatusAllowed
	case out.Status == stopgate.Skipped:
		return stopgate.StatusSkipped
	}
	return stopgate.StatusDenied
}

// maxPooled is how many argument bytes an evaluation may have seen to be used
// again: a large one does not keep its buffers.
const maxPooled = 1 << 20

// end keeps the outcome and lets go of the evaluation; p.mu is held.
func (p *pending) end(out stopgate.Outcome, row *stopgate.Record) {
	if out.Allowed() {
		p.g.released.put(p.id, p.release(row))
	}
	p.trace = p.transitions()
	if e, ok := p.eval.(*policy.Evaluation); ok && p.received <= maxPooled {
		p.g.evals.Put(e)
	}
	p.eval, p.own, p.raw, p.final = nil, nil, nil, nil
	p.stage = settled
	if !p.over {
		p.over = true
		if p.done != nil {
			close(p.done)
		}
	}
}
