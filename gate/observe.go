package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// ErrUnmatched says that a result belongs to no call that this gate released, or
// that its result came already (THREATS H5).
var ErrUnmatched = errors.New("gate: the result belongs to no released call")

// Delivery is what a model gets of a call's result. The zero Delivery withholds.
type Delivery struct {
	// Mode is the result rules' verdict on the arguments that ran: Unattended
	// delivers, everything else withholds (DECISIONS K32).
	Mode stopgate.Mode
	Code stopgate.Code
	// Data reaches the model: the result's own bytes, or an envelope that says
	// result_withheld.
	Data []byte
}

// Delivered reports whether the result itself reaches the model.
func (d Delivery) Delivered() bool { return d.Mode.Permissive() }

// release is what the gate remembers of a released call until its result comes.
type release struct {
	tool    stopgate.ToolName
	session stopgate.SessionID
	row     *stopgate.Record // the call's decision row, which belongs to the recorder too: read only
	result  stopgate.Verdict // of the result rules
	observe bool
}

// release asks the result rules, which look at the arguments that ran (D25-42);
// p.mu is held. Rules that fail withhold.
func (p *pending) release(row *stopgate.Record) (r release) {
	r = release{tool: p.call.Tool, session: p.call.Session, row: row, observe: p.under.observe}
	defer func() {
		if recover() != nil {
			r.result = stopgate.Verdict{Decided: true, Mode: stopgate.Deny, Layer: stopgate.LayerFailure, Code: stopgate.CodePolicyError}
		}
	}()
	if p.final == nil {
		return r
	}
	executed := p.eval.Document()
	if !bytes.Equal(executed.Text(), p.final) { // a path was cleaned
		executed = new(jsonstream.Document)
		if executed.Scan(p.final, jsonstream.Options{}) != nil {
			return r
		}
	}
	r.result = p.rules.ResultMode(executed)
	return r
}

// Observe takes the result of a released call, once, and says what of it reaches
// the model. Asking a person about a result is not built: ask and edit withhold.
// A result of no released call is an event row, changes nothing and is withheld
// with ErrUnmatched.
func (g *Gate) Observe(ctx context.Context, r stopgate.Result) (Delivery, error) {
	rel, ok := g.released.take(r.Proposal)
	if !ok || rel.tool != r.Tool || rel.session != r.Session {
		if ok { // a forged result does not use up the real one
			g.released.put(r.Proposal, rel)
		}
		g.ledger.note(ctx, stopgate.Record{
			Event: stopgate.AuditUnmatchedResult, Code: stopgate.CodeUnmatchedResult, ID: r.Proposal,
			Session: r.Session, Tool: r.Tool, CallID: r.Call, Policy: g.PolicyHash(),
		})
		return withheld(stopgate.Deny), ErrUnmatched
	}
	row := identityOf(rel.row)
	row.Event, row.Code, row.Rule = stopgate.AuditResult, rel.result.Code, rel.result.Rule
	mode := rel.result.Mode
	row.Mode = &mode
	row.Cause = resultCause(r)
	var err error
	if g.sessions != nil {
		answer := invoke(context.WithoutCancel(ctx), &g.ports.sessions, g.limits.Store, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, g.sessions.Observe(ctx, r)
		})
		if answer.fault != none {
			// The call did run (FM16).
			row.Code = stopgate.CodeExecutedStateUnknown
			err = errors.New("gate: the result could not be stored: " + answer.fault.String())
		}
	}
	g.ledger.note(ctx, row)
	if rel.observe || rel.result.Decided && mode.Permissive() {
		return Delivery{Mode: stopgate.Unattended, Code: rel.result.Code, Data: r.Data}, err
	}
	return withheld(mode), err
}

// resultCause says how a result came (REQUIREMENTS X13).
func resultCause(r stopgate.Result) string {
	cause := "reported"
	if r.Observed {
		cause = "observed"
	}
	if r.Failed {
		cause += ", failed"
	}
	return cause
}

func withheld(mode stopgate.Mode) Delivery {
	if mode.Permissive() {
		mode = stopgate.Deny
	}
	code := stopgate.CodeResultWithheld
	// An envelope of four strings always marshals.
	data, _ := json.Marshal(stopgate.Envelope{Status: "denied", Code: code, PublicReason: code.Public()})
	return Delivery{Mode: mode, Code: code, Data: data}
}
