package amend

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// fromPacks reports whether packs have rules of a list.
func fromPacks(list *syntax.RuleList) bool {
	return list != nil && slices.ContainsFunc(list.Rules, func(r *syntax.Rule) bool { return r.Pack != "" })
}

// intoOwn adds the rule to a list that packs have rules of, before the rule with an index: directly
// before it if it is one of the file, else after the last rule of the file, which come before those of
// packs. A file without rules for the tool gets a list.
func (c *Change) intoOwn(list *syntax.RuleList, rule string, at int) error {
	var own []*syntax.Rule
	for _, r := range list.Rules {
		if r.Pack == "" {
			own = append(own, r)
		}
	}
	if at != End && list.Rules[at].Pack == "" {
		at = slices.Index(own, list.Rules[at])
	} else {
		at = End
	}
	if len(own) > 0 {
		mine := *list
		mine.Rules = own
		return c.insert(&mine, rule, at)
	}
	table, err := c.toolTable()
	if err != nil {
		return err
	}
	header := "[tools." + tomltree.Key(table.Name) + ".policy]\n"
	text := fmt.Sprintf("run = [\n  %s,\n]\n", rule)
	if i := bytes.Index(append([]byte("\n"), c.Text...), []byte("\n"+header)); i >= 0 {
		at := i + len(header)
		c.splice(at, at, text)
		return nil
	}
	c.Text = fmt.Appendf(bytes.Clone(c.Text), "\n%s%s", header, text)
	return nil
}

// toolTable returns the tool's own table.
func (c *Change) toolTable() (*syntax.ToolTable, error) {
	file, mistakes := parser.Parse(kinds.Table(), c.Name, c.Text)
	if file == nil {
		return nil, mistakes.Err()
	}
	for _, t := range file.Tools {
		if t.Named(string(c.Tool)) {
			return t, nil
		}
	}
	return nil, ErrForm
}

// findOwn sets Line to that of the first new rule. All of them must be rules of the file itself.
func (c *Change) findOwn(list *syntax.RuleList, added []*syntax.Rule) error {
	for i := len(added) - 1; i >= 0; i-- {
		at := slices.IndexFunc(list.Rules, func(r *syntax.Rule) bool { return r.Pack == "" && r.Text() == added[i].Text() })
		if at < 0 {
			return ErrForm
		}
		c.Line = list.Rules[at].Pos.Start.Line
	}
	return nil
}
