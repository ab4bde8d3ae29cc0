package policy

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
)

// bindingKey is the input of a binding of a program.
type bindingKey struct {
	program                                 *Program
	tool, agent, surface, server, principal string
	situation                               eval.Situation
}

// verdict asks a program about a call.
func (c *comparer) verdict(p *Program, call stopgate.Call, s eval.Situation, kind syntax.ListKind) stopgate.Verdict {
	key := bindingKey{p, string(call.Tool), string(call.Agent), string(call.Surface), string(call.Server), string(call.Principal), s}
	b := c.bindings[key]
	if b == nil {
		b = p.BindUnder(call, eval.Circumstances{Situation: s})
		c.bindings[key] = b
	}
	e := b.Evaluate()
	e.Feed(call.Args)
	v := e.Close(stopgate.Ended)
	if kind == syntax.ResultList {
		return b.ResultMode(e.Document())
	}
	return v
}

// boundPolicy is one file's rules and guards for a tool, bound to its schema.
type boundPolicy struct {
	file   string
	list   *syntax.RuleList
	end    stopgate.Mode
	rules  []*symbolic.Rule
	guards []*symbolic.Rule
	origin []*syntax.Rule // of the guards: as they are written
	// written are all guards of the file. commands says that the tool takes command lines.
	written  []*syntax.Rule
	commands bool
	sessions []*syntax.SessionPolicy
}

// bind fits the rules of a file to a tool, as the compiler does: those that stand
// for many tools are left out where the tool lacks what they look at.
func (c *comparer) bind(s *sidePolicy, tool *comparedTool, kind syntax.ListKind) (*boundPolicy, bool) {
	b := &boundPolicy{file: s.File.Name, end: stopgate.Ask, commands: runsCommands(s.Schema), sessions: s.File.Sessions}
	checks := newChecker(s.File, c.options)
	checks.memory = c.memory
	list, table, many := s.List(kind)
	if list == nil && kind == syntax.ResultList {
		b.end = stopgate.Unattended // a file without result rules delivers results (K32)
	}
	view := &checkedList{kind: kind, shared: many, tool: &checkedTool{name: string(tool.name), schema: s.Schema}, owner: &syntax.ToolTable{Name: table}}
	if list != nil {
		b.list = list
		for _, r := range list.Rules {
			if bound, ok := checks.bind(view, r); ok {
				b.rules = append(b.rules, bound)
			} else if !view.shared {
				return nil, false
			}
		}
	}
	if kind == syntax.RunList {
		b.written = s.File.Guards
		for _, g := range s.File.Guards {
			for _, bound := range checks.guardOn(view, g) {
				b.guards, b.origin = append(b.guards, bound), append(b.origin, g)
			}
		}
	}
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
	return &RulePlace{File: b.file, Line: r.Pos.Start.Line, Index: r.Index, Guard: d.Guard, Text: r.Text()}
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

// guardOn binds a guard to the places it looks at in the calls of a tool: each is a
// guard of its own there.
func (c *checker) guardOn(l *checkedList, g *syntax.Rule) []*symbolic.Rule {
	if len(g.Conditions) != 1 || g.Conditions[0].On == "" {
		if bound, ok := c.bind(&checkedList{kind: l.kind, shared: true, tool: l.tool, owner: l.owner}, g); ok {
			return []*symbolic.Rule{bound}
		}
		return nil
	}
	var list []*symbolic.Rule
	a, _ := schema.ParseAnnotation(g.Conditions[0].On)
	for pointer, place := range l.tool.schema.All() {
		suspected := !place.Tabled() && !place.Guarded(g.Conditions[0].On) && eval.Suspects(g)
		if place.Seen()&schema.String == 0 || !place.Guarded(g.Conditions[0].On) && !suspected || a == schema.Path && (place.Runs() || place.HasWithin(schema.Patch)) {
			continue // files that command lines read and write are no values: see sampledFiles
		}
		k := g.Conditions[0]
		k.Arg, k.On = slices.DeleteFunc(slices.Clone(pointer), func(token string) bool { return token == "*" }), ""
		one := *g
		one.Conditions = []syntax.Condition{k}
		reach := l.tool.schema.Reach(k.Arg)
		if reach.Missing >= 0 {
			continue
		}
		readings := readingsOf(reach, k.Spec.Kind)
		if suspected {
			readings = []schema.Annotation{a}
		}
		bound, fits := c.conditionAs(l, &one, &one.Conditions[0], reach, readings)
		if !fits {
			continue
		}
		bound.Readings = slices.DeleteFunc(bound.Readings, func(r schema.Annotation) bool { return r != a })
		if len(bound.Readings) == 0 {
			bound.Readings = []schema.Annotation{a}
		}
		list = append(list, &symbolic.Rule{Rule: &one, Bound: []*symbolic.Condition{bound}})
	}
	return list
}
