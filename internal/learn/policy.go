package learn

import (
	"crypto/sha256"
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

// anywhere leaves out the session of a call, unless some sessions have other rules.
func (j *judge) anywhere(call stopgate.Call) stopgate.Call {
	if j.policy.Options.Rollout.Previous == nil {
		call.Session = ""
	}
	return call
}

func (j *judge) bound(call stopgate.Call, facts string, args []byte) *eval.Evaluation {
	b := j.bindings[facts]
	if b == nil {
		b = j.program.Bind(call)
		j.bindings[facts] = b
	}
	e := b.Evaluate()
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

// asks returns the position of the rule that asks about a call in the list of the file, and whether somebody
// wanted the question: the rule has a condition, and in a pack a reason. It is not ok if something else than a rule of the file asks, which no rule of it can change.
func (j *judge) asks(e *eval.Evaluation) (at int, wanted, ok bool) {
	v := e.Verdict()
	if v.Mode != stopgate.Ask || v.Layer != stopgate.LayerRules || len(v.Floors) > 0 {
		return 0, false, false
	}
	if v.Rule == nil {
		return amend.End, false, v.Code == stopgate.CodeNoRuleMatched
	}
	pack := strings.HasPrefix(v.Rule.File, "pack:")
	if v.Rule.File != j.policy.Name && !pack {
		return 0, false, false
	}
	if pack && v.Public == stopgate.CodeRuleMatched.Public() {
		return v.Rule.Index, false, true
	}
	wanted = true
	for _, l := range e.Explain().Lists {
		if l.Named && v.Rule.Index < len(l.Rules) {
			wanted = len(l.Rules[v.Rule.Index].Conditions) > 0
		}
	}
	return v.Rule.Index, wanted, true
}
