package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// ErrUnmatched is the error of a result that belongs to no released call, or to one whose
// result was observed before (H5).
var ErrUnmatched = errors.New("gate: the result belongs to no released call")

// Delivery is the part of a call's result that the model receives. The zero Delivery
// withholds.
type Delivery struct {
	// Mode is the result rules' verdict on the arguments that ran: Unattended
	// delivers, everything else withholds (K32).
	Mode stopgate.Mode
	Code stopgate.Code
	// Data reaches the model: the result's own bytes, those that an approver edited it
	// into, or an envelope with the code result_withheld.
	Data []byte

	shown bool // an approver accepted it
}

// Delivered reports whether the result itself reaches the model.
func (d Delivery) Delivered() bool { return d.Mode.Permissive() || d.shown }

// Envelope returns the normalized result (G2-15): with Data if it is delivered, else with the
// reason.
func (d Delivery) Envelope() stopgate.Envelope {
	if !d.Delivered() {
		return stopgate.Outcome{Verdict: stopgate.Verdict{Code: d.Code}}.Envelope()
	}
	return stopgate.Outcome{Status: stopgate.Allowed}.Envelope().WithData(d.Data)
}

// release describes a released call until its result comes.
type release struct {
	id      stopgate.ProposalID
	parent  stopgate.ProposalID
	call    stopgate.Call
	to      stopgate.AgentName // the receiving agent of a handoff
	policy  string             // hash of the policy that decided
	bundle  *stopgate.Bundle   // that it came in
	hash    string             // of the canonical arguments
	result  stopgate.Verdict   // of the result rules
	args    []byte             // the arguments that ran, if an approver is asked about the result, a policy observes it or the texts need them
	observe bool
}

// matches reports whether a result may belong to the call, of a tool that may have several names.
func (r *release) matches(result *stopgate.Result, name func(stopgate.ToolName) stopgate.ToolName) bool {
	return (result.Tool == "" && result.Proposal != "" || name(r.call.Tool) == name(result.Tool)) &&
		owner(&r.call) == session.Owner{Principal: result.Principal, Session: result.Session}
}

// row begins an event row about the call.
func (r *release) row() stopgate.Record {
	row := rows.Identity(&r.call)
	row.ID, row.Parent, row.Handoff, row.Policy, row.Bundle = r.id, r.parent, r.to, r.policy, r.bundle
	return row
}

// awaitedResult returns the description of the released call for its result.
func (c *commitment) awaitedResult() *release {
	p := c.p
	return &release{
		id: p.id, parent: p.parent, call: p.call, to: p.handoff.to, policy: c.policy().hash, bundle: c.policy().bundle, hash: p.args.hash,
		result: c.result.verdict, args: c.result.args, observe: p.under.observe,
	}
}

// resultVerdict is the verdict of the result rules, and the arguments if an approver is asked
// or a session policy observes the result.
type resultVerdict struct {
	verdict stopgate.Verdict
	args    []byte
}

// resultRules asks the rules on results, which look at the arguments that ran (D25-42);
// p.mu is held. Rules that fail withhold.
func (c *commitment) resultRules() {
	p, r := c.p, &c.result
	defer func() {
		if recover() != nil {
			r.verdict = stopgate.Verdict{Decided: true, Mode: stopgate.Deny, Layer: stopgate.LayerFailure, Code: stopgate.CodePolicyError}
		}
	}()
	if p.args.final == nil {
		return
	}
	executed := p.verdicts.eval.Document()
	if !bytes.Equal(executed.Text(), p.args.final) { // a path was cleaned
		executed = new(jsonstream.Document)
		if executed.Scan(p.args.final, jsonstream.Options{}) != nil {
			return
		}
	}
	r.verdict = p.bound.rules.ResultMode(executed, p.sessions.texts)
	m := r.verdict.Mode
	if m == stopgate.Ask || m == stopgate.Edit || p.sessions.set.Observed(p.sessions.tool) && len(p.args.final) <= maxKept ||
		p.under.reader != nil && len(p.args.final) <= maxResultArgs {
		r.args = p.args.copied()
	}
}

// Observe records the result of a released call, once, and returns the part that the model
// receives. The facts are written first, because the call ran whatever the result rules
// decide. With ask or edit the approver decides about the result; it is withheld if there is
// no approver or the surface cannot wait (K32, S11). A result without a released call is
// recorded as an event row and withheld with ErrUnmatched (H5).
//
// A result that the model receives becomes a text of its conversation; one without a released
// call, too, because the model may have received it without the gate. The error of a hook whose result
// is not stored as a text is ErrTextsUnsaved.
func (g *Gate) Observe(ctx context.Context, r stopgate.Result) (Delivery, error) {
	d, rel, err := g.observe(ctx, &r)
	hook := rel == nil || rel.call.Surface == stopgate.SurfaceHook
	var lost error // reported, and later calls of this process are in doubt
	switch {
	case d.Delivered():
		lost = g.texts.addResult(ctx, g.current.Load().of(r.Session), rel, &r, d.Data)
	case hook: // a host may show it all the same
		lost = g.texts.addResult(ctx, g.current.Load().of(r.Session), rel, &r, r.Data)
	}
	if hook && errors.Is(lost, ErrTextsUnsaved) { // the process of a hook may end now
		err = errors.Join(err, lost)
	}
	return d, err
}

// observeFacts is Observe for a surface that adds the texts by itself.
func (g *Gate) observeFacts(ctx context.Context, r stopgate.Result) (Delivery, error) {
	d, _, err := g.observe(ctx, &r)
	return d, err
}

// observe is Observe without the texts. It returns the released call of the result, nil if there is
// none.
func (g *Gate) observe(ctx context.Context, at *stopgate.Result) (Delivery, *release, error) {
	rel, err := g.match(ctx, at)
	r := *at
	if err != nil && !errors.Is(err, ErrUnmatched) {
		return g.observeUnmatchable(ctx, r), nil, err
	}
	if err != nil {
		g.audit.Note(ctx, stopgate.Record{
			Event: stopgate.AuditUnmatchedResult, Code: stopgate.CodeUnmatchedResult, ID: r.Proposal,
			Session: r.Session, Principal: r.Principal, Tool: r.Tool, CallID: r.Call,
		})
		return withheld(stopgate.Deny), nil, err
	}
	row := rel.row()
	row.Event, row.Code, row.Rule = stopgate.AuditResult, rel.result.Code, rel.result.Rule
	mode := rel.result.Mode
	row.Mode = &mode
	row.Cause = resultCause(r, g.current.Load().of(rel.call.Session).kindOf(rel.call.Tool, r))
	err = g.learn(ctx, rel, r)
	switch {
	case errors.Is(err, ErrUnmatched):
		row.Event, row.Code, row.Mode = stopgate.AuditUnmatchedResult, stopgate.CodeUnmatchedResult, nil
		g.audit.Note(ctx, row)
		return withheld(stopgate.Deny), nil, err
	case err != nil:
		// The call did run (FM16).
		row.Code = stopgate.CodeExecutedStateUnknown
		g.sessions.degrade(ctx, owner(&rel.call))
	}
	g.audit.Note(ctx, row)
	switch {
	case rel.observe || rel.result.Decided && mode.Permissive():
		return Delivery{Mode: stopgate.Unattended, Code: rel.result.Code, Data: r.Data}, rel, err
	case rel.result.Decided && (mode == stopgate.Ask || mode == stopgate.Edit):
		return rel.review(ctx, g, r), rel, err
	}
	return withheld(mode), rel, err
}

// observeUnmatchable records a result whose call cannot be looked up because the store fails: the
// call did run, and its outcome is unknown (FM16).
func (g *Gate) observeUnmatchable(ctx context.Context, r stopgate.Result) Delivery {
	g.sessions.degrade(ctx, session.Owner{Principal: r.Principal, Session: r.Session})
	g.audit.Note(ctx, stopgate.Record{
		Event: stopgate.AuditResult, Code: stopgate.CodeExecutedStateUnknown, ID: r.Proposal, Cause: resultCause(r, session.Finished),
		Session: r.Session, Principal: r.Principal, Tool: r.Tool, CallID: r.Call,
	})
	return withheld(stopgate.Deny)
}

// match finds the released call of a result, in memory or among the facts, and fills in the
// fields of r that the surface did not know.
func (g *Gate) match(ctx context.Context, r *stopgate.Result) (*release, error) {
	if rel, err := g.takeReleased(r); rel != nil || err != nil {
		return rel, err
	}
	if !g.sessions.exists() {
		return nil, ErrUnmatched
	}
	o := session.Owner{Principal: r.Principal, Session: r.Session}
	tool := g.current.Load().of(o.Session).name(r.Tool)
	if r.Proposal == "" {
		k := session.OpenKey(r.Call, tool)
		state := g.sessions.load(ctx, o, []session.Key{k})
		if state.Fault != port.None {
			return nil, state.Problem("result")
		}
		cell, _ := state.Value.Cell(k)
		for _, open := range cell.Open {
			if open.Args == r.ArgsHash && r.ArgsHash != "" {
				r.Proposal = open.Proposal // the newest one
			}
		}
	}
	if rel, err := g.takeReleased(r); rel != nil || err != nil {
		return rel, err
	}
	k := session.CallKey(r.Proposal)
	state := g.sessions.load(ctx, o, []session.Key{k})
	if state.Fault != port.None {
		return nil, state.Problem("result")
	}
	cell, _ := state.Value.Cell(k)
	f := cell.Call.Fact
	if f != nil && r.Tool == "" {
		r.Tool, tool = f.Tool, f.Tool
	}
	if f == nil || cell.Call.Done != "" || f.Tool != tool || f.Release == nil {
		return nil, ErrUnmatched
	}
	call := stopgate.Call{
		Tool: r.Tool, ID: f.CallID, Session: o.Session, Principal: o.Principal, Turn: f.Turn, Agent: f.Agent,
		Dialect: f.Release.Dialect, Surface: f.Release.Surface,
	}
	rel := &release{
		id: f.Proposal, call: call, to: f.Release.Handoff, policy: f.Release.Policy, hash: f.ArgsHash,
		result: f.Release.Verdict, observe: f.Release.Observed,
	}
	if now := g.current.Load().of(o.Session); now.hash == rel.policy {
		rel.bundle = now.bundle // facts have the hash only
	}
	return rel, nil
}

// takeReleased takes the released call of a result out of memory; nil if it is not there. A result
// that does not match the call is forged and does not use it up.
func (g *Gate) takeReleased(r *stopgate.Result) (*release, error) {
	rel, ok := g.released.Take(r.Proposal)
	if ok && !rel.matches(r, g.current.Load().of(rel.call.Session).name) {
		g.released.Put(r.Proposal, rel)
		return nil, ErrUnmatched
	}
	return rel, nil
}

// resultCause returns the source of a result for its row: observed or reported (X13).
func resultCause(r stopgate.Result, kind session.Kind) string {
	cause := "reported"
	if r.Observed {
		cause = "observed"
	}
	switch kind {
	case session.Failed, session.Absent:
		cause += ", failed"
	case session.Finished:
		cause += ", unknown"
	}
	return cause
}

func withheld(mode stopgate.Mode) Delivery {
	if mode.Permissive() {
		mode = stopgate.Deny
	}
	d := Delivery{Mode: mode, Code: stopgate.CodeResultWithheld}
	d.Data, _ = json.Marshal(d.Envelope()) // an envelope without data always marshals
	return d
}
