package diff

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/jsonstream"
)

// bindingKey is the input of a binding of a program.
type bindingKey struct {
	program                                 *policy.Program
	tool, agent, surface, server, principal string
	situation                               eval.Situation
}

// verdict asks a program about a call.
func (c *comparer) verdict(p *policy.Program, call stopgate.Call, in session, kind syntax.ListKind) stopgate.Verdict {
	under := in.in(p, call.Groups)
	key := bindingKey{p, string(call.Tool), string(call.Agent), string(call.Surface), string(call.Server), string(call.Principal), under}
	b := c.bindings[key]
	if b == nil {
		b = p.BindUnder(call, eval.Circumstances{Situation: under})
		c.bindings[key] = b
	}
	e := b.EvaluateWith(in.texts)
	e.Feed(call.Args)
	v := e.Close(stopgate.Ended)
	if kind == syntax.ResultList {
		return b.ResultModeWith(e.Document(), in.texts)
	}
	return v
}

// in returns the situation of a call in the session under a program.
func (in *session) in(p *policy.Program, groups stopgate.Groups) eval.Situation {
	return p.Situation(groups, jsonstream.Value{}, in.texts).And(in.situation)
}

// boundPolicy is one file's rules and guards for a tool, bound to its schema.
type boundPolicy struct {
	file   string
	list   *syntax.RuleList
	end    stopgate.Mode
	rules  []*symbolic.Rule
	guards []*symbolic.Rule
	origin []*syntax.Rule // of the guards: as they are written
	// written are all guards of the file. commands reports that the tool takes command lines.
	written  []*syntax.Rule
	commands bool
	sessions []*syntax.SessionPolicy
}

// bind fits the rules of a file to a tool, as the compiler does: rules for many tools are
// left out if the tool lacks their parameter.
func (c *comparer) bind(s *sidePolicy, tool *comparedTool, kind syntax.ListKind) (*boundPolicy, bool) {
	b := &boundPolicy{file: s.File.Name, end: stopgate.Ask, commands: runsCommands(s.Schema), sessions: s.File.Sessions}
	binder := &bind.Binder{File: s.File, Env: s.File.Environment(condition.Env{Root: c.options.Root, Home: c.options.Home})}
	list, table, many := s.List(kind)
	if list == nil && kind == syntax.ResultList {
		b.end = stopgate.Unattended // a file without result rules delivers results (K32)
	}
	view := &bind.List{Kind: kind, Shared: many, Tool: &bind.Tool{Name: string(tool.name), Schema: s.Schema}, Owner: &syntax.ToolTable{Name: table}}
	var rules, guards []*bind.Rule
	if list != nil {
		b.list = list
		for _, r := range list.Rules {
			if bound, ok := binder.Rule(view, r); ok {
				rules = append(rules, bound)
			} else if !view.Shared && r.Pack == "" {
				return nil, false
			}
		}
	}
	if kind == syntax.RunList {
		b.written = s.File.Guards
		for _, g := range s.File.Guards {
			for _, bound := range binder.GuardOn(view, g) {
				guards, b.origin = append(guards, bound), append(b.origin, g)
			}
		}
	}
	b.rules, b.guards = c.memory.Rules(rules), c.memory.Rules(guards)
	return b, true
}

// place returns the position of a decider.
func (b *boundPolicy) place(d analysis.Decider) *RulePlace {
	var r *syntax.Rule
	switch {
	case d.Guard:
		r = b.origin[d.Index]
	case d.Index >= 0:
		r = b.rules[d.Index].Rule
	case b.list == nil:
		return &RulePlace{File: b.file, Index: -1}
	default:
		return &RulePlace{File: b.file, Line: b.list.Pos.Start.Line, Index: -1}
	}
	return &RulePlace{File: r.In(b.file), Line: r.Pos.Start.Line, Index: r.Index, Guard: d.Guard, Text: r.Text()}
}

// policyOf translates rules and guards.
func policyOf(t *symbolic.Translation, b *boundPolicy) *analysis.Policy {
	p := &analysis.Policy{Rules: t.Rules(b.rules), End: int(b.end), Guards: t.Rules(b.guards)}
	for _, r := range b.rules {
		p.Modes = append(p.Modes, int(r.Mode))
	}
	for _, g := range b.guards {
		p.GuardModes = append(p.GuardModes, int(g.Mode))
	}
	return p
}
