package eval

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Tools that are recognised run nothing: the form of the model's answer, and handoffs. Where
// [gate] structured_output of a trusted file lets them pass, its tables for many tools do not
// hold for them; tables that name the tool, guards and every other file do.

// What Explanation.Recognised can be.
const (
	RecognisedOutput  = "the form of the model's answer"
	RecognisedHandoff = "a handoff to another agent"
)

// recognised is what the call was recognised as, "" for a tool like any other.
func (b *binder) recognised() string {
	switch {
	case b.output:
		return RecognisedOutput
	case b.handoff:
		return RecognisedHandoff
	}
	return ""
}

// recognisedNote says what that means for the verdict.
func (b *binder) recognisedNote() string {
	switch what := b.recognised(); {
	case what == "":
		return ""
	case b.passed:
		return what + "; [gate] structured_output lets it pass the rules for all tools"
	case b.handoff && !b.handsOver():
		return what + "; it needs an entry in [[handoffs]], and is a tool like any other"
	default:
		return what + "; the rules decide: no [gate] structured_output lets it pass them"
	}
}

func (b *binder) handsOver() bool {
	return slices.ContainsFunc(b.policies.layers, func(l *Layer) bool { return l.handsOver(string(b.call.Tool)) })
}

// pass puts a permission in the place of the tables for all tools that a file has, if the
// file lets the recognised tool pass. A handoff needs an entry of [[handoffs]], which then
// decides.
func (b *binder) pass(v *Voice) {
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

// passing is the list of rules of a tool that may pass.
func passing() *syntax.RuleList {
	file, _ := syntax.Parse("", []byte("version = 1\n[tools.t.policy]\nrun = [{ mode = \"unattended\" }]\n"))
	return file.Tools[0].Run
}

// handsOver reports whether an entry of [[handoffs]] in an operator's file is about a tool.
func (l *Layer) handsOver(tool string) bool {
	return l.Trusted && slices.ContainsFunc(l.File.Handoffs, func(h *syntax.Handoff) bool {
		n, err := glob.ParseName(h.Tool)
		return err == nil && h.Tool != "" && n.Match(tool)
	})
}
