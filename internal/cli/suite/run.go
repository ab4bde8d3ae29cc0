package suite

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Report is what became of the cases of one suite.
type Report struct {
	Suite *Suite
	Cases []CaseReport
	// reached are the rules that matched in some call.
	reached map[ruleKey]bool
}

// CaseReport is what became of one case. A case ends with its first call that is
// not as expected: what follows would say nothing.
type CaseReport struct {
	Name  string
	Line  int
	Calls []CallReport
}

// Passed reports whether every call was as expected.
func (c *CaseReport) Passed() bool {
	for i := range c.Calls {
		if len(c.Calls[i].Mismatches) > 0 {
			return false
		}
	}
	return true
}

// CallReport is what was decided about one call.
type CallReport struct {
	*Call
	Verdict     stopgate.Verdict
	Explanation eval.Explanation // of the policy files alone
	// Delivery is what the result rules said, for a call that ran.
	Delivery   stopgate.Mode
	Mismatches []Mismatch
}

// Mismatch is one thing that is not as expected.
type Mismatch struct {
	What string `json:"what"`
	Want string `json:"expected"`
	Got  string `json:"got"`
}

// Run goes through the cases that keep says yes to; nil keeps all.
func (s *Suite) Run(ctx context.Context, keep func(name string) bool) (*Report, error) {
	report := &Report{Suite: s, reached: make(map[ruleKey]bool)}
	for i := range s.Cases {
		c := &s.Cases[i]
		if keep != nil && !keep(c.Name) {
			continue
		}
		outcome := CaseReport{Name: c.Name, Line: c.Line}
		person := &approver{}
		var data []byte
		g, err := s.options.Gate(s.program, person)
		if err != nil {
			return nil, err
		}
		for j := range c.Calls {
			person.says = c.Calls[j].Ran
			if told := c.Calls[j].Data; told != nil {
				data = told
				at := session.Owner{Principal: c.Calls[j].Call.Principal, Session: c.Calls[j].Call.Session}
				if err := g.SetData(ctx, at, data); err != nil {
					return nil, fmt.Errorf("%s:%d: %w", s.File, c.Calls[j].Line, err)
				}
			}
			call, err := s.call(ctx, g, &c.Calls[j], data, report)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", s.File, c.Calls[j].Line, err)
			}
			outcome.Calls = append(outcome.Calls, call)
			if len(call.Mismatches) > 0 {
				break
			}
		}
		report.Cases = append(report.Cases, outcome)
	}
	return report, nil
}

// call takes one call through the gate, and explains what the rules did.
func (s *Suite) call(ctx context.Context, g *gate.Gate, c *Call, data []byte, report *Report) (CallReport, error) {
	r := CallReport{Call: c}
	var in eval.Situation
	if data != nil {
		value, err := jsonstream.Parse(data, jsonstream.Options{})
		if err != nil {
			return r, err
		}
		in = s.program.Situation(value)
	}
	binding := s.bind(c.Call, in)
	evaluation := binding.Evaluate()
	evaluation.Feed(c.Args)
	evaluation.Close(stopgate.Ended)
	r.Explanation = evaluation.Explain()
	report.reach(r.Explanation)

	pending, err := g.Open(ctx, c.Call)
	if err != nil {
		return r, err
	}
	defer pending.Cancel(ctx)
	pending.Feed(c.Args)
	r.Verdict = pending.Close(stopgate.Ended)
	ran := false
	if !r.Verdict.Terminal() {
		out, err := pending.Resolve(ctx)
		if err != nil {
			return r, err
		}
		// That nobody approved is how a case stops before a person is asked.
		if ran = out.Allowed(); !ran && out.Verdict.Layer != stopgate.LayerApproval {
			r.Verdict = out.Verdict
		}
	}
	if ran && c.Ran {
		d, err := g.Observe(ctx, stopgate.Result{
			Proposal: pending.ID(), Session: c.Call.Session, Principal: c.Call.Principal, Tool: c.Call.Tool, Failed: c.Failed, Data: c.Result, Observed: true,
		})
		if err != nil {
			return r, err
		}
		r.Delivery = d.Mode
		report.reachRule(binding.ResultMode(evaluation.Document()).Rule)
	}
	r.compare(ran)
	return r, nil
}

// compare finds what is not as expected.
func (r *CallReport) compare(ran bool) {
	v := &r.Verdict
	got := map[string]string{
		"expect": v.Mode.String(), "code": string(v.Code), "layer": string(v.Layer), "pointer": v.Pointer,
		"decided_at": strconv.FormatInt(v.DecidedAt, 10), "public": v.Public, "rule": "none", "line": "none", "expect_result": r.Delivery.String(),
	}
	if v.Rule != nil {
		got["rule"], got["line"] = strconv.Itoa(v.Rule.Index+1), strconv.Itoa(v.Rule.Line)
	}
	for _, w := range r.want {
		if got[w.what] != w.value {
			r.Mismatches = append(r.Mismatches, Mismatch{w.what, w.value, got[w.what]})
		}
	}
	if r.Ran && !ran && len(r.Mismatches) == 0 {
		r.Mismatches = append(r.Mismatches, Mismatch{"result", "a call that ran", "refused: " + string(v.Code)})
	}
}

// approver stands for the people of a case: calls that ran had somebody's
// approval, about the others nobody was asked yet.
type approver struct{ says bool }

var _ gate.Approver = (*approver)(nil)

// Abilities says that somebody could answer.
func (a *approver) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

// Approve answers for the people of the case.
func (a *approver) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	view, err := q.Complete(ctx)
	if a.says {
		return view.Approve("case"), err
	}
	return view.Decline("case"), err
}
