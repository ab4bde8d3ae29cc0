package amend

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// ErrNoEffect is returned if the rule changes no verdict.
var ErrNoEffect = errors.New("the rule would change nothing")

// Prove checks the effect of the change, for the tool with its definition. It returns the change,
// which may also declare the tool's parameters, and the findings of `stopgate check` on the rule;
// an error is the reason why the file must not be changed.
func (c Change) Prove(definition stopgate.ToolDefinition) (proved Change, notes []string, err error) {
	o := policy.Options{Definitions: []stopgate.ToolDefinition{definition}, Known: func(stopgate.Call) (eval.KnownTool, bool) {
		return eval.KnownTool{Name: definition.Name, Own: true}, true // the author of the rule sees all declared parameters of the tool
	}}
	// The file must be correct with and without knowledge of the tool.
	found := c.check(policy.Options{})
	if c.undeclared(found) {
		if more, ok := c.declare(definition); ok {
			c, found = more, more.check(policy.Options{})
		}
	}
	found = append(found, c.check(o)...)
	for _, d := range found {
		if text := fmt.Sprintf("%s: %s", d.Code, d.Message); d.Pack == 0 && d.Range.Start.Line == c.Line && !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	if found.HasErrors() {
		return c, notes, fmt.Errorf("with the rule the file has mistakes: %w", found.Err())
	}
	return c, notes, c.compare(o)
}

func (c Change) check(o policy.Options) diag.List {
	_, found := prove.Compile([]policy.Source{{Name: c.Name, Text: c.Text, Trusted: true}}, o)
	return found
}

// compare compares all calls, and checks that only the rule changes them.
func (c Change) compare(o policy.Options) error {
	old, new := policy.Source{Name: c.Name, Text: c.Before, Trusted: true}, policy.Source{Name: c.Name, Text: c.Text, Trusted: true}
	if !c.onlyToolChanged() {
		return ErrForm
	}
	d, before, after := diff.Tool(old, new, c.Tool, o)
	if d == nil {
		return errors.Join(before.Err(), after.Err())
	}
	for _, change := range d.Changes {
		switch {
		case change.Tool != c.Tool || change.List != "run" || change.From != stopgate.Ask || change.To != stopgate.Unattended,
			change.New == nil || change.New.File != c.Name || change.New.Line != c.Line:
			return fmt.Errorf("the rule would change more than it should: %s from %s to %s", change.Tool, change.From, change.To)
		}
	}
	if len(d.Changes) == 0 {
		return ErrNoEffect
	}
	return nil
}

// onlyToolChanged reports whether everything but the tool's own table is unchanged, so that other
// tools need not be compared.
func (c Change) onlyToolChanged() bool {
	before, _ := parser.Parse(kinds.Table(), c.Name, c.Before)
	after, _ := parser.Parse(kinds.Table(), c.Name, c.Text)
	return before != nil && after != nil && slices.Equal(c.others(before), c.others(after))
}

// others returns the rules that are not the tool's own.
func (c Change) others(file *syntax.File) (texts []string) {
	for _, r := range file.Guards {
		texts = append(texts, r.Text())
	}
	for _, t := range file.Tools {
		if t.Named(string(c.Tool)) {
			continue
		}
		for _, kind := range []syntax.ListKind{syntax.RunList, syntax.ResultList} {
			texts = append(texts, t.Name)
			if list := t.List(kind); list != nil {
				for _, r := range list.Rules {
					texts = append(texts, r.Text())
				}
			}
		}
	}
	return texts
}
