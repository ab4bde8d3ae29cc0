package learn

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/amend"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/syntax"
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

// judge evaluates calls under one text of the file. What is bound and decided once is kept.
type judge struct {
	policy   *Policy
	program  *policy.Program
	text     []byte
	bindings map[string]*eval.Binding
	modes    map[[sha256.Size]byte]stopgate.Mode
}

func (p *Policy) judge(text []byte) (*judge, error) {
	sources := append([]policy.Source{{Name: p.Name, Text: text, Trusted: true, Embedded: p.Embedded && string(text) == string(p.Text)}}, p.Others...)
	program, found := policy.Compile(sources, p.Options)
	if program == nil {
		return nil, fmt.Errorf("%s: %w", p.Name, found.Err())
	}
	return &judge{p, program, text, map[string]*eval.Binding{}, map[[sha256.Size]byte]stopgate.Mode{}}, nil
}

// with returns the judge of the file with more rules in the list of a tool.
func (j *judge) with(tool stopgate.ToolName, rules string, at int) (*judge, error) {
	c, err := amend.Before(j.policy.Name, j.text, tool, rules, at)
	if err != nil {
		return nil, err
	}
	return j.policy.judge(c.Text)
}

// factsOf names everything of a call that its binding depends on.
func factsOf(c stopgate.Call) string {
	facts := fmt.Sprintf("%q %q %q %q %q %q %q %v", c.Tool, c.Session, c.Agent, c.Principal, c.Server, c.Surface, c.Dialect, c.Groups)
	if d := c.Definition; d != nil {
		facts += fmt.Sprintf(" %q %t %t %t %s", d.Name, d.EmptyMeansNone, d.Pinned, d.Strict, d.Schema)
	}
	return facts
}

// evaluate judges a complete call in a session of which nothing is known.
func (j *judge) evaluate(call stopgate.Call, args []byte) *eval.Evaluation {
	call = j.anywhere(call)
	return j.bound(call, factsOf(call), args)
}

// binding returns the binding of a call; it is kept for further calls with the same facts.
func (j *judge) binding(call stopgate.Call) *eval.Binding { return j.bindingOf(call, factsOf(call)) }

func (j *judge) bindingOf(call stopgate.Call, facts string) *eval.Binding {
	b := j.bindings[facts]
	if b == nil {
		b = j.program.Bind(call)
		j.bindings[facts] = b
	}
	return b
}

// anywhere leaves out the session of a call, unless some sessions have other rules.
func (j *judge) anywhere(call stopgate.Call) stopgate.Call {
	if j.policy.Options.Rollout.Previous == nil {
		call.Session = ""
	}
	return call
}

func (j *judge) bound(call stopgate.Call, facts string, args []byte) *eval.Evaluation {
	e := j.bindingOf(call, facts).Evaluate()
	e.Feed(args)
	e.Close(stopgate.Ended)
	return e
}

// mode is the mode of the verdict on a complete call.
func (j *judge) mode(call stopgate.Call, args []byte) stopgate.Mode {
	call = j.anywhere(call)
	facts := factsOf(call)
	key := sha256.Sum256(append([]byte(facts+"\x00"), args...))
	m, ok := j.modes[key]
	if !ok {
		m = j.bound(call, facts, args).Verdict().Mode
		j.modes[key] = m
	}
	return m
}

// asks returns the question about a call. It is not ok if something else than a rule of the file asks, which no rule
// of it can change.
func (j *judge) asks(e *eval.Evaluation) (q question, ok bool) {
	v := e.Verdict()
	if v.Mode != stopgate.Ask || v.Layer != stopgate.LayerRules || len(v.Floors) > 0 {
		return q, false
	}
	if v.Rule == nil {
		return question{at: amend.End}, v.Code == stopgate.CodeNoRuleMatched
	}
	q = question{at: v.Rule.Index, wanted: true, general: strings.HasPrefix(v.Rule.File, "pack:")}
	if v.Rule.File != j.policy.Name && !q.general {
		return q, false
	}
	for _, l := range e.Explain().Lists {
		if rules := j.rules(&l); l.Named && v.Rule.Index < len(rules) {
			q.wanted = ofItsOwn(rules, v.Rule.Index)
		}
	}
	return q, true
}

// rules returns the rules of an explained list, nil if they are not known.
func (j *judge) rules(l *eval.ListExplanation) []*syntax.Rule {
	for _, layer := range j.program.Layers() {
		if layer.File.Name != l.File {
			continue
		}
		for _, t := range layer.File.Tools {
			if t.Name == l.Table && t.Run != nil && len(t.Run.Rules) == len(l.Rules) {
				return t.Run.Rules
			}
		}
	}
	return nil
}

// ofItsOwn reports whether a rule asks a question of its own, and not that of the end of its list: it has a
// condition, and does not give the reason for which the catch-all asks.
func ofItsOwn(rules []*syntax.Rule, at int) bool {
	r, end := rules[at], rules[len(rules)-1]
	same := r.Reason != "" && r.Reason == end.Reason && end.Mode == stopgate.Ask && len(end.Conditions) == 0
	return len(r.Conditions) > 0 && !same
}
