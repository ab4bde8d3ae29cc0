package external

import (
	"context"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

// Open makes the policies of a table for the gate. The service need not run yet: while it does not,
// its calls are denied.
func (f *Factory) Open(t *gate.ExternalTable) (gate.External, error) {
	s, err := f.service(t)
	if err != nil {
		return gate.External{}, err
	}
	e := gate.External{Answers: func(id stopgate.ProposalID) []stopgate.ExternalAnswer { return f.known.of(t.Name, id) }}
	if t.Has(syntax.HookGate) {
		e.Tools = toolPolicy{s}
	}
	if t.Has(syntax.HookHandoff) {
		e.Handoffs = toolPolicy{s}
	}
	if t.Has(syntax.HookSession) {
		e.Sessions = newSessionPolicy(s)
	}
	if t.Has(syntax.HookJudge) {
		e.Judge = judge{s}
	}
	return e, nil
}

// toolPolicy is the deterministic gate of calls and handoffs (G2-03).
type toolPolicy struct{ *service }

// Name returns the name of the table.
func (p toolPolicy) Name() string { return p.table.Name }

// Check asks about a call.
func (p toolPolicy) Check(ctx context.Context, prop gate.Proposal) (gate.Decision, error) {
	q := &question{ask: askGate, hook: syntax.HookGate, proposal: prop.ID}
	call := callOf(&prop.Call, prop.ID, prop.Args)
	call.always("raw", prop.Raw)
	q.members.raw("call", call.end())
	return p.decide(ctx, q)
}

// CheckHandoff asks about a handoff.
func (p toolPolicy) CheckHandoff(ctx context.Context, prop gate.Proposal) (gate.Decision, error) {
	q := &question{ask: askHandoff, hook: syntax.HookHandoff, proposal: prop.ID}
	call := callOf(&prop.Call, prop.ID, prop.Args)
	call.always("to", string(prop.To))
	q.members.raw("call", call.end())
	return p.decide(ctx, q)
}

func (p toolPolicy) decide(ctx context.Context, q *question) (gate.Decision, error) {
	d, _, err := ask(ctx, p.service, q, func(a *answer) (gate.Decision, string, stopgate.Code) {
		word := a.decision("allow", "deny")
		d := gate.Decision{Kind: gate.Forbid, Reason: a.code(false), Public: a.sentence("public_reason", maxSentence), Metadata: a.metadata()}
		if word == "allow" {
			d.Kind = gate.Permit
		}
		switch a.get("deny_mode", jsonstream.String).Text() {
		case "":
		case "throw":
			d.DenyMode = gate.DenyThrow
		case "tool_result":
			d.DenyMode = gate.DenyToolResult
		default:
			a.fail("deny_mode")
		}
		return d, word, d.Reason
	})
	return d, err
}

// judge is the judge of calls (V3-19).
type judge struct{ *service }

// Judge asks for an opinion, which only tightens.
func (j judge) Judge(ctx context.Context, prop gate.Proposal) (gate.Opinion, error) {
	q := &question{ask: askJudge, hook: syntax.HookJudge, proposal: prop.ID}
	call := callOf(&prop.Call, prop.ID, prop.Args)
	q.members.raw("call", call.end())
	q.members.string("mode", prop.Verdict.Mode.String())
	o, record, err := ask(ctx, j.service, q, func(a *answer) (gate.Opinion, string, stopgate.Code) {
		word := a.decision("allow", "ask", "deny")
		o := gate.Opinion{Mode: map[string]stopgate.Mode{"allow": stopgate.Unattended, "ask": stopgate.Ask, "deny": stopgate.Deny}[word]}
		o.Public = a.sentence("public_reason", maxSentence)
		o.Review = stopgate.Review{Model: "external:" + j.table.Name, Explanation: a.sentence("explanation", maxSentence), Attempts: 1}
		probability := a.get("probability", jsonstream.Number)
		n, ok := number(probability)
		if !ok || n < 0 || n > 1 {
			a.fail("probability")
		}
		o.Probability = n
		return o, word, ""
	})
	if err != nil {
		review := stopgate.Review{Model: "external:" + j.table.Name, Fault: record.Fault, Millis: record.Micros / 1000, Attempts: 1}
		return gate.Opinion{}, &gate.JudgeError{Review: review, Err: err}
	}
	return o, nil
}

// number returns a JSON number as a float; ok is false for one that is none.
func number(v jsonstream.Value) (n float64, ok bool) {
	n, err := strconv.ParseFloat(string(v.Raw()), 64)
	return n, err == nil && v.Kind() == jsonstream.Number
}
