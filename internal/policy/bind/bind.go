// Package bind fits the rules of a policy file to the parameters of a tool, as the evaluator does,
// and reports those that do not fit.
//
//	b := &bind.Binder{File: file, Env: env}
//	rule, ok := b.Rule(list, file.Tools[0].Run.Rules[0])
//	mistakes := b.Found
//
// It does no I/O, reads no clock, starts no goroutine and logs nothing.
package bind

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
)

// Binder binds the rules of one file.
type Binder struct {
	File *syntax.File
	Env  condition.Env
	// Found are the mistakes that were reported.
	Found diag.List
}

// Report adds a finding.
func (b *Binder) Report(code diag.Code, at diag.Range, message, hint string, related ...diag.Related) {
	for i := range related {
		related[i].File = b.File.NameAt(related[i].Range)
	}
	b.Found.Add(diag.Diagnostic{
		Code: code, File: b.File.NameAt(at), Range: at, Message: message, Hint: hint, Related: related,
	})
}

// Tool is a tool that rules are bound to: one that a definition describes, or one that the
// file names.
type Tool struct {
	Name   string // "" for the tools that a table with a glob is about
	Tables []*syntax.ToolTable
	Schema *schema.Schema // nil: unknown
	Pos    diag.Range     // of the nearest table
}

// Label is the name of the tool in messages.
func (t *Tool) Label() string {
	if t.Name == "" {
		return "tools that only this file describes"
	}
	return "`" + t.Name + "`"
}

// List is a rule list as one tool sees it.
type List struct {
	*syntax.RuleList
	Kind  syntax.ListKind
	Owner *syntax.ToolTable
	// Shared: the list belongs to a table for many tools, whose name is a glob or "*".
	Shared bool
	Tool   *Tool
}

// Rule fits a rule to the tool's schema.
func (b *Binder) Rule(l *List, r *syntax.Rule) (*Rule, bool) {
	bound, ok := &Rule{Rule: r}, true
	for i := range r.Conditions {
		k := &r.Conditions[i]
		reach := l.Tool.Schema.Reach(k.Arg)
		if reach.Missing >= 0 {
			b.missing(l, r, k, reach)
			ok = false
			continue
		}
		condition, fits := b.condition(l, r, k, reach)
		ok = ok && fits
		bound.Bound = append(bound.Bound, condition)
	}
	b.ignoresExist(l, r)
	return bound, ok && b.oneCommand(bound)
}

// oneCommand reports a rule with conditions on two command lines. Each command is evaluated by
// itself, while the other parameter has no value, so the conditions never hold together (K29).
func (b *Binder) oneCommand(r *Rule) bool {
	var first *Condition
	for _, k := range r.Bound {
		switch {
		case !k.IsCommand():
		case first == nil:
			first = k
		case k.Key != first.Key:
			b.Report(diag.NeverHolds, k.Pos, fmt.Sprintf("%s never holds: each command is judged by itself, so no rule sees `%s` and `%s` at once", r.Label(), first.Arg, k.Arg),
				"write a rule for each of them", diag.Related{Range: first.Pos, Message: "the other one is here"})
			return false
		}
	}
	return true
}

// maxNamed is how many parameters a hint lists.
const maxNamed = 12

// missing reports a pointer to a parameter that the tool lacks. A rule for many tools is skipped
// for such a tool (D25-47, Q5), unless the rule restricts and calls may have undeclared
// parameters. So is a rule of a pack, which knows the tool in several versions.
func (b *Binder) missing(l *List, r *syntax.Rule, k *syntax.Condition, reach schema.Reach) {
	if r.Pack != "" && !l.Shared {
		return
	}
	arg, hint := k.Arg.String(), ""
	if reach.Suggestion != "" {
		near := slices.Clone(k.Arg)
		near[reach.Missing] = reach.Suggestion
		hint = "did you mean `" + tomltree.Quote(near.String()) + "`?"
	} else if n := len(reach.Names); n > 0 && n <= maxNamed && !l.Shared {
		hint = "possible: " + diag.Words(reach.Names)
	}
	if !l.Shared {
		b.Report(diag.NoSuchParameter, k.SegmentRange(reach.Missing),
			fmt.Sprintf("%s, `%s` of %s: %s", r.Label(), arg, l.Tool.Label(), reach.Problem), hint)
		return
	}
	code, effect := diag.DefaultSkipped, "is skipped for %s: no `%s` there"
	switch {
	case r.Mode.Permissive():
		code = diag.DefaultUseless
	case !eval.MayHoldUndeclared(r, k) || b.File.UnknownParams(l.Tool.Tables) != syntax.ParamAllow:
	case reach.Suggestion == "":
		return
	default: // probably a misspelling
		effect = "applies to calls of %s only if they bring `%s`, which no schema declares"
	}
	b.Report(code, r.Pos, r.Label()+" of `"+tomltree.Key(l.Owner.Name)+"` "+fmt.Sprintf(effect, l.Tool.Label(), arg), hint)
}

// ignoresExist checks the pointers of ignores.
func (b *Binder) ignoresExist(l *List, r *syntax.Rule) {
	for i, pointer := range r.Ignores {
		reach := l.Tool.Schema.Reach(pointer)
		if reach.Missing < 0 || l.Shared {
			continue
		}
		hint := ""
		if reach.Suggestion != "" {
			hint = "did you mean `" + reach.Suggestion + "`?"
		}
		b.Report(diag.NoSuchParameter, r.IgnorePos(i), fmt.Sprintf("%s ignores `%s` of %s: %s", r.Label(), pointer, l.Tool.Label(), reach.Problem), hint)
	}
}
