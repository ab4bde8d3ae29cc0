package learn

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/amend"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
)

// Policy is the policy that calls are judged by, and the file of it that gets the rules.
type Policy struct {
	Name string
	Text []byte
	// Embedded reports that the file is part of the program: with a rule it becomes the person's own.
	Embedded bool
	// Others are the other files in force.
	Others  []policy.Source
	Options policy.Options
}

// judge evaluates calls under one text of the file.
type judge struct {
	policy  *Policy
	program *policy.Program
	text    []byte
}

func (p *Policy) judge(text []byte) (*judge, error) {
	sources := append([]policy.Source{{Name: p.Name, Text: text, Trusted: true, Embedded: p.Embedded && string(text) == string(p.Text)}}, p.Others...)
	program, found := policy.Compile(sources, p.Options)
	if program == nil {
		return nil, fmt.Errorf("%s: %w", p.Name, found.Err())
	}
	return &judge{p, program, text}, nil
}

// with returns the judge of the file with one rule more.
func (j *judge) with(tool stopgate.ToolName, rule string, at int) (*judge, error) {
	c, err := amend.Before(j.policy.Name, j.text, tool, rule, at)
	if err != nil {
		return nil, err
	}
	return j.policy.judge(c.Text)
}

// evaluate judges a complete call in a session of which nothing is known.
func (j *judge) evaluate(call stopgate.Call, args []byte) *eval.Evaluation {
	e := j.program.Bind(call).Evaluate()
	e.Feed(args)
	e.Close(stopgate.Ended)
	return e
}

func (j *judge) mode(call stopgate.Call, args []byte) stopgate.Mode {
	return j.evaluate(call, args).Verdict().Mode
}

// asks returns the position of the rule that asks about a call in the list of the file, and whether it has a
// condition. It is not ok if something else than a rule of the file asks, which no rule of it can change.
func (j *judge) asks(e *eval.Evaluation) (at int, wanted, ok bool) {
	v := e.Verdict()
	if v.Mode != stopgate.Ask || v.Layer != stopgate.LayerRules || len(v.Floors) > 0 {
		return 0, false, false
	}
	if v.Rule == nil {
		return amend.End, false, v.Code == stopgate.CodeNoRuleMatched
	}
	if v.Rule.File != j.policy.Name && !strings.HasPrefix(v.Rule.File, "pack:") {
		return 0, false, false
	}
	wanted = true
	for _, l := range e.Explain().Lists {
		if l.Named && v.Rule.Index < len(l.Rules) {
			wanted = len(l.Rules[v.Rule.Index].Conditions) > 0
		}
	}
	return v.Rule.Index, wanted, true
}
