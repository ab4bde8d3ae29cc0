package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/jsonstream"
)

// identity returns a row with the fields that identify the call.
func (p *pending) identity() stopgate.Record {
	r := rows.Identity(&p.call)
	r.ID, r.Parent, r.Handoff, r.Policy, r.Unversioned = p.id, p.parent, p.handoff.to, p.under.hash, p.under.unversioned
	r.Bundle = p.under.bundle
	return r
}

// policy returns the policy that decided.
func (c *commitment) policy() *compiled { return cmp.Or(c.p.verdicts.judgedBy, c.p.under) }

// makeRow makes the decision row of the call; p.mu is held.
func (c *commitment) makeRow(v *stopgate.Verdict, approval *stopgate.Approval) {
	p := c.p
	r := new(stopgate.Record)
	*r = p.identity()
	r.Version, r.Kind, r.Time = stopgate.RecordVersion, stopgate.RecordDecision, p.g.now().UTC()
	r.ArgsHash, r.ArgsBytes = p.args.hash, p.args.received
	of := &struct { // the values that the row points to
		mode     stopgate.Mode
		enforced bool
		at       int64
	}{v.Mode, !p.under.observe, v.DecidedAt}
	r.Status, r.Mode, r.Layer, r.Code, r.Cause = statusOf(&p.out, v, c.edited), &of.mode, v.Layer, v.Code, p.verdicts.cause
	r.Rule, r.Candidates, r.Pointer, r.DecidedAt = v.Rule, slices.Clone(v.Candidates), v.Pointer, &of.at
	if s := v.Segment; s != nil {
		r.Segment = &stopgate.Segment{Index: s.Index, Of: s.Of}
	}
	r.Floors, r.Objections, r.Judge, r.Approval, r.FactsAt = v.Floors, p.sessions.objections, p.judges.review, approval, p.sessions.factsAt
	r.Origins, r.Texts = p.origins(), p.sessions.textsAt
	r.External = p.answers()
	r.Policy, r.Bundle = PolicyOf(c.policy().hash, r.External), c.policy().bundle
	r.Definition, r.PathResolution, r.Enforced = p.bound.definition, cmp.Or(p.under.paths, "lexical"), &of.enforced
	r.Context = c.context()
	if p.out.Status == stopgate.Allowed {
		r.ReleasedHash = rows.Hex(sha256.Sum256(c.args))
	}
	if p.g.keepsArguments {
		r.Args, r.ArgsHash = p.args.forRow()
	}
	rows.Clean(r)
	c.row = r
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

// rows appends the rows that are written at the end of the call: those held back of a
// question, and its own.
func (c *commitment) rows(list []*stopgate.Record) []*stopgate.Record {
	return append(appendCopies(list, c.p.heldRows), c.row)
}

// appendCopies appends a copy of each row of the second list.
func appendCopies(list []*stopgate.Record, kept []stopgate.Record) []*stopgate.Record {
	for _, r := range kept {
		list = append(list, &r)
	}
	return list
}

// announceHeldRows passes the rows that were held back to the tracer, after they were written or
// lost.
func (c *commitment) announceHeldRows(ctx context.Context) {
	p := c.p
	p.mu.Lock()
	kept := p.heldRows
	p.heldRows = nil
	p.mu.Unlock()
	for _, r := range kept {
		p.g.audit.Announce(ctx, r)
	}
}

// context returns the context of the call for its row; p.mu is held.
func (c *commitment) context() *stopgate.Context {
	p := c.p
	pinned := p.call.Definition != nil && p.call.Definition.Pinned
	if p.call.Server == "" && !pinned && !p.sessions.data.IsValid() {
		return p.under.context
	}
	var all stopgate.Context
	if p.under.context != nil {
		all = *p.under.context
	}
	all.Server, all.Pinned = stopgate.ServerID(rows.Word(string(p.call.Server))), pinned
	if p.sessions.data.IsValid() {
		sum := jsonstream.HashCanonical(p.sessions.data)
		all.SessionData = hex.EncodeToString(sum[:])
	}
	return &all
}
