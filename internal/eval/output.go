package eval

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Recognised tools run no code: structured outputs and handoffs. If [gate] structured_output of a
// trusted file allows them, its tables for many tools do not apply to them; tables that name the
// tool, guards and every other file do.

// Values of Explanation.Recognised.
const (
	RecognisedOutput  = "the form of the model's answer"
	RecognisedHandoff = "a handoff to another agent"
)

// recognised returns the recognised kind of the tool, "" for other tools.
func (b *binder) recognised() string {
	switch {
	case b.output:
		return RecognisedOutput
	case b.handoff:
		return RecognisedHandoff
	}
	return ""
}

// recognisedNote describes the consequence for the verdict.
func (b *binder) recognisedNote() string {
	switch noun := b.recognised(); {
	case noun == "":
		return ""
	case b.passed:
		return noun + "; [gate] structured_output lets it pass the rules for all tools"
	case b.handoff && !b.handsOver():
		return noun + "; it needs an entry in [[handoffs]], and is a tool like any other"
	default:
		return noun + "; the rules decide: no [gate] structured_output lets it pass them"
	}
}

func (b *binder) handsOver() bool {
	return slices.ContainsFunc(b.policies.layers, func(l *Layer) bool { return l.handsOver(string(b.call.Tool)) })
}

// pass replaces the tables for all tools of a file by a permission, if the file allows the
// recognised tool. A handoff needs an entry of [[handoffs]], which then decides.
func (b *binder) pass(v *ToolPolicy) {
	if b.recognised() == "" || !v.Trusted || v.File.Gate.StructuredOutput != stopgate.Unattended || len(v.Tables) == 0 || v.Tables[0].Name != "*" {
		return
	}
	if b.handoff && !b.handsOver() {
		return
	}
	b.passed, v.passes = true, true
	own := *v.Tables[0]
	own.Name = string(b.call.Tool)
	own.Schema, own.Run = nil, passing()
	own.Run.Pos, own.Run.Rules[0].Pos = own.Pos, own.Pos
	v.Tables = append([]*syntax.ToolTable{&own}, v.Tables...)
}

// passing returns the rule list of an allowed tool: one rule without conditions.
func passing() *syntax.RuleList {
	return &syntax.RuleList{Rules: []*syntax.Rule{{Mode: stopgate.Unattended}}}
}

// handsOver reports whether an entry of [[handoffs]] in an operator's file applies to a tool.
func (l *Layer) handsOver(tool string) bool {
	return l.Trusted && slices.ContainsFunc(l.File.Handoffs, func(h *syntax.Handoff) bool {
		n, err := glob.ParseName(h.Tool)
		return err == nil && h.Tool != "" && n.Match(tool)
	})
}
