package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// commit asks the session policies on current facts, writes the row and makes the outcome.
// From here on only these change the verdict: an objection on current facts, and a row that
// cannot be written. An allow without its row is a denial (I22, H19).
func (p *pending) commit(ctx context.Context, approval *stopgate.Approval, edited bool) {
	c := commitment{pending: p, edited: edited}
	c.decide(approval)
	if c.releases {
		c.commitRelease(ctx)
	}
	c.finish(ctx)
}

// commitment is a call while its outcome is made.
type commitment struct {
	*pending
	edited     bool
	row        *stopgate.Record // nil without a recorder and a tracer
	result     resultVerdict
	releases   bool // with a fact in the store
	wrote      bool // the row, with the facts
	denial     denialCount
	denialCode stopgate.Code // of a denial whose code is that of the limit

	// The facts that the store accepted, and the position before them.
	facts []session.Fact
	head  uint64
}

// decide makes the outcome from the current verdict.
func (c *commitment) decide(approval *stopgate.Approval) {
	p := c.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	p.applyLockdown()
	p.stage = committed
	c.row = p.conclude(approval, c.edited)
	if p.g.tracer != nil && p.final != nil && p.eval != nil {
		p.redacted = p.g.tracer.show(p.eval.Document().Root())
	}
	c.releases = p.g.store != nil && p.final != nil && p.eval != nil && (c.out.Status == stopgate.Allowed || !c.out.Enforced && !c.edited)
	if c.out.Status == stopgate.Allowed || !c.out.Enforced {
		p.resultRules(&c.result)
	}
}

// finish applies the result of the release, and writes the row unless the store did.
func (c *commitment) finish(ctx context.Context) {
	if c.ready(ctx); !c.wrote {
		c.write(ctx)
	}
	c.finished(ctx)
}

// ready completes the row and counts a denial.
func (c *commitment) ready(ctx context.Context) {
	p := c.pending
	if c.releases {
		p.mu.Lock()
		if c.facts != nil {
			p.factsAt, p.releaseFacts = c.head, c.facts
		}
		switch {
		case p.terminal && c.out.Status == stopgate.Allowed:
			c.row = p.conclude(nil, c.edited)
		case !c.wrote && c.row != nil:
			c.row.FactsAt = p.factsAt
		}
		p.mu.Unlock()
	}
	if c.out.Status == stopgate.Denied && c.out.Enforced && !c.edited {
		c.denial = p.countDenial(ctx, c.row)
		if c.wrote = c.wrote || c.denial.wrote; c.denial.limited {
			c.denialCode = p.stop(c.row)
		}
	}
}

// finished ends the call after its row was written or lost.
func (c *commitment) finished(ctx context.Context) {
	p := c.pending
	if c.out.Status != stopgate.Allowed && c.out.Enforced {
		p.withdrawRelease(ctx)
		p.turn.returnTransition(p.id)
		if !c.edited {
			p.returnApproval(ctx)
		}
	}
	p.notifyHeldRows(ctx)
	p.mu.Lock()
	c.out.Verdict = *p.latest()
	if !c.out.Enforced && c.out.Verdict.Code != stopgate.CodeCancelled {
		c.out.Status, c.out.Args = stopgate.Allowed, p.raw
		if p.received > maxRaw {
			c.out.Args = nil
		}
	}
	p.settle(&c.result)
	p.mu.Unlock()
	p.traceOutcome(ctx, &c.out, c.row)
	if c.denial.first {
		p.notifyStopped(ctx, c.denial, c.denialCode)
	}
}

// write writes the row without facts.
func (c *commitment) write(ctx context.Context) {
	switch {
	case c.spooled:
		c.written(nil)
	case c.rowLost: // it is counted
		c.written(c.g.audit.try(ctx, c.row))
	case len(c.heldRows) > 0:
		c.written(c.g.audit.writeAll(ctx, c.rows(nil)))
	default:
		c.written(c.g.audit.write(ctx, c.row))
	}
}

// rows appends the rows that are written at the end of the call: those held back of a
// question, and its own.
func (c *commitment) rows(rows []*stopgate.Record) []*stopgate.Record {
	return append(appendCopies(rows, c.heldRows), c.row)
}

// written applies the result of writing the row: an allow without its row is denied (I22).
func (c *commitment) written(err error) {
	if err != nil && (c.out.Status == stopgate.Allowed || c.edited) && c.out.Enforced {
		c.deny(stopgate.LayerFailure, stopgate.CodeAuditUnavailable)
		c.out.Status, c.out.Args, c.out.Approval = stopgate.Denied, nil, nil
	}
}

// conclude makes the outcome from the current verdict, and the row if there is a recorder or
// a tracer; p.mu is held.
func (p *pending) conclude(approval *stopgate.Approval, edited bool) *stopgate.Record {
	v, out := p.latest(), &p.out
	*out = stopgate.Outcome{Proposal: p.id, Enforced: !p.under.observe, Status: stopgate.Denied, Judge: p.judged}
	switch {
	case p.terminal:
		approval = nil
	case p.under.observe:
	case edited:
	case v.Mode.Permissive(), approval != nil:
		out.Status = stopgate.Allowed
	default: // an ask without an answer: unreachable, and denied
		p.addVerdict(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
	}
	if v = p.latest(); v.Mode == stopgate.Skip && p.terminal {
		out.Status = stopgate.Skipped
	}
	if out.Status == stopgate.Allowed {
		out.Args = p.releasedArgs()
		out.Approval = approval
	}
	if !p.g.rows {
		return nil
	}
	if p.releasedHash = ""; out.Status == stopgate.Allowed {
		p.releasedHash = hexOf(sha256.Sum256(out.Args))
	}
	return p.row(v, statusOf(out, v, edited), approval)
}

// releasedArgs returns the arguments that run: a copy, because the next call reuses their
// buffer, unless they are too large for a buffer that is reused.
func (p *pending) releasedArgs() []byte {
	if p.received > maxReused {
		return p.final
	}
	return bytes.Clone(p.final)
}

// hexOf returns a hash in lower-case hex.
func hexOf(sum [sha256.Size]byte) string {
	var text [2 * sha256.Size]byte
	for i := range len(sum) / 4 { // four bytes at a time: each digit in a byte of its own
		x := uint64(binary.BigEndian.Uint32(sum[4*i:]))
		x = (x<<16 | x) & 0x0000ffff0000ffff
		x = (x<<8 | x) & 0x00ff00ff00ff00ff
		x = (x<<4 | x) & 0x0f0f0f0f0f0f0f0f
		letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101 // where a digit is above 9
		binary.BigEndian.PutUint64(text[8*i:], x+0x3030303030303030+letters*('a'-'0'-10))
	}
	return string(text[:])
}

// stop replaces the code of a denial where there were too many in a row: it is
// denied as it was, and the turn is over (S28).
func (p *pending) stop(row *stopgate.Record) (because stopgate.Code) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.verdict()
	if row != nil {
		row.Cause, row.Code = word(string(v.Code)+" "+row.Cause), stopgate.CodeDenialLimit
	}
	because = v.Code
	v.Code, v.Public = stopgate.CodeDenialLimit, stopgate.CodeDenialLimit.Public()
	p.layerVerdicts = append(p.layerVerdicts, v)
	return because
}

// statusOf names the end of a proposal for its row.
func statusOf(out *stopgate.Outcome, v *stopgate.Verdict, edited bool) stopgate.RecordStatus {
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

// maxReused is how many argument bytes a call may have for its buffers to serve another
// one.
const maxReused = 1 << 20

// storeKnows reports whether the facts of the release, which an in-memory store returns at
// once, are enough to process the result.
func (p *pending) storeKnows(result *stopgate.Verdict) bool {
	return p.g.local && p.releaseFacts != nil && p.parent == "" && result.Decided && result.Mode.Permissive()
}

// releaseBuffers returns the buffers of the call for reuse; p.mu is held.
func (p *pending) releaseBuffers() {
	if p.eval != nil && p.received <= maxReused {
		p.eval.Release()
	}
	p.eval, p.current, p.final = nil, &undecided, nil
}

// settle stores the outcome and releases the evaluation; p.mu is held.
func (p *pending) settle(result *resultVerdict) {
	if p.out.Status == stopgate.Allowed && !p.storeKnows(&result.verdict) {
		p.g.released.put(p.id, p.release(result))
	}
	p.trace = p.transitions()
	p.releaseBuffers()
	p.layerVerdicts, p.raw, p.releaseFacts = nil, nil, nil
	p.stage = settled
	if p.shared() {
		p.turn.leave(p.id)
	}
	if !p.terminal {
		p.terminal = true
		if p.done != nil {
			close(p.done)
		}
	}
}
