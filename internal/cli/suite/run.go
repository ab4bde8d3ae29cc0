package suite

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Report is the result of one suite.
type Report struct {
	Suite *Suite
	Cases []CaseReport
	// reached are the rules that matched some call.
	reached map[ruleKey]bool
}

// CaseReport is the result of one case. A case ends with its first call that differs from the
// expectations, since later calls depend on it.
type CaseReport struct {
	Name  string
	Line  int
	Calls []CallReport
}

// Passed reports whether every call met its expectations.
func (c *CaseReport) Passed() bool {
	for i := range c.Calls {
		if len(c.Calls[i].Mismatches) > 0 {
			return false
		}
	}
	return true
}

// CallReport is the decision about one call.
type CallReport struct {
	*Call
	Verdict     stopgate.Verdict
	Explanation eval.Explanation // of the policy files only
	// Delivery is the result of the result rules, for a call that ran.
	Delivery   stopgate.Mode
	Mismatches []Mismatch
}

// Mismatch is one difference from the expectations.
type Mismatch struct {
	Field string `json:"what"`
	Want  string `json:"expected"`
	Got   string `json:"got"`
}

// Run runs the cases that keep selects; nil selects all.
func (s *Suite) Run(ctx context.Context, keep func(name string) bool) (*Report, error) {
	report := &Report{Suite: s, reached: make(map[ruleKey]bool)}
	for i := range s.Cases {
		c := &s.Cases[i]
		if keep != nil && !keep(c.Name) {
			continue
		}
		outcome := CaseReport{Name: c.Name, Line: c.Line}
		person := &approver{}
		g, err := s.options.Gate(s.program, person)
		if err != nil {
			return nil, err
		}
		one := &runner{Suite: s, gate: g, report: report, known: c.Known, texts: newHistory(s.program.Reader(), c.Known)}
		for j := range c.Calls {
			person.approves = c.Calls[j].Ran
			call, err := one.call(ctx, &c.Calls[j])
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

// runner runs the calls of one case.
type runner struct {
	*Suite
	gate   *gate.Gate
	report *Report
	known  flow.Knowledge
	data   []byte // of the session, nil for none
	texts  *history
	begun  bool
}

// prepare sets the data and adds the texts that a call says.
func (s *runner) prepare(ctx context.Context, c *Call) (eval.Situation, error) {
	at := session.Owner{Principal: c.Call.Principal, Session: c.Call.Session}
	if c.Data != nil {
		s.data = c.Data
		if err := s.gate.SetData(ctx, at, s.data); err != nil {
			return eval.Situation{}, err
		}
	}
	if err := s.gate.AddTexts(ctx, at, "", gate.Texts{Known: s.known, Whole: !s.begun, List: c.Texts}); err != nil {
		return eval.Situation{}, err
	}
	s.begun = true
	s.texts.add(c.Texts)
	var data jsonstream.Value
	if s.data != nil {
		var err error
		if data, err = jsonstream.Parse(s.data, jsonstream.Options{}); err != nil {
			return eval.Situation{}, err
		}
	}
	return s.program.Situation(c.Call.Groups, data, s.texts.view()), nil
}

// call evaluates one call in the gate, and explains the rules.
func (s *runner) call(ctx context.Context, c *Call) (CallReport, error) {
	r := CallReport{Call: c}
	in, err := s.prepare(ctx, c)
	if err != nil {
		return r, err
	}
	view := s.texts.view()
	binding := s.bind(c.Call, in)
	evaluation := binding.EvaluateWith(view)
	evaluation.Feed(c.Args)
	evaluation.Close(stopgate.Ended)
	r.Explanation = evaluation.Explain()
	s.report.reach(r.Explanation)

	pending, err := s.gate.Open(ctx, c.Call)
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
		// A missing approval is where a case stops.
		if ran = out.Allowed(); !ran && out.Verdict.Layer != stopgate.LayerApproval {
			r.Verdict = out.Verdict
		}
	}
	if ran && c.Ran {
		d, err := s.gate.Observe(ctx, stopgate.Result{
			Proposal: pending.ID(), Session: c.Call.Session, Principal: c.Call.Principal, Tool: c.Call.Tool, Failed: c.Failed, Data: c.Result, Observed: true,
		})
		if err != nil {
			return r, err
		}
		r.Delivery = d.Mode
		s.report.reachRule(binding.ResultModeWith(evaluation.Document(), view).Rule)
		s.texts.ran(c, pending.ID(), d.Mode == stopgate.Unattended)
	}
	r.compare(ran)
	return r, nil
}

// compare finds the differences from the expectations.
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
		if got[w.field] != w.value {
			r.Mismatches = append(r.Mismatches, Mismatch{w.field, w.value, got[w.field]})
		}
	}
	if r.Ran && !ran && len(r.Mismatches) == 0 {
		r.Mismatches = append(r.Mismatches, Mismatch{"result", "a call that ran", "refused: " + string(v.Code)})
	}
}

// approver is the approver of a case: it approves calls that ran, and does not answer about others.
type approver struct{ approves bool }

var _ gate.Approver = (*approver)(nil)

// Abilities reports that approvals are possible.
func (a *approver) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

// Approve answers for the case.
func (a *approver) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	view, err := q.Complete(ctx)
	if a.approves {
		return view.Approve("case"), err
	}
	return view.Decline("case"), err
}
