// Package amend adds a rule to the text of a policy file, which permits only calls of one tool
// that are asked about now.
//
//	c, err := amend.Before("stopgate.toml", text, "fs_create_file", `{ arg = "/path", const = "a", mode = "unattended" }`, 2)
//	if err == nil {
//		err = c.Prove(definition)
//	}
//	os.WriteFile(path, c.Text, 0o600)
//
// Comments, order and layout of everything else stay byte for byte. The rule is added directly
// before the one that asks, so that earlier rules still decide first (D25-09). A list that other
// tools share is not changed: the tool gets a copy of it with the rule, because a list of its own
// replaces the shared one (D25-04). Rules of packs are not changed either: the rule is added to those of
// the file, which come first. Prove compares both files as `stopgate diff` does: it fails
// unless every difference is a call of this tool that was asked about and is permitted now, by this
// rule.
package amend

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Change is a file with an additional rule.
type Change struct {
	Name         string // name of the file in messages
	Before, Text []byte
	Tool         stopgate.ToolName
	Line         int // line on which the rule begins, the first of several
	// Copied is the table whose list the tool got a copy of, "" if the list was its own.
	Copied string
}

// ErrForm is returned for a file in a form that must be edited by hand.
var ErrForm = errors.New("the file is in a form that has to be edited by hand")

// End is the position after all other rules, where no rule matched.
const End = -1

// Before adds a rule to the list that applies to a tool, before the rule with an index, or at the
// End. The rule is an inline table, or several with commas between them, which stay in their order.
func Before(name string, text []byte, tool stopgate.ToolName, rule string, at int) (Change, error) {
	c := Change{Name: name, Before: text, Text: text, Tool: tool}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		c.Text = append(bytes.Clone(text), '\n')
	}
	list, table, err := c.list()
	if err != nil {
		return c, err
	}
	if table != own {
		c.copyList(list, table)
		c.Copied = table
		if list, table, err = c.list(); err != nil || table != own {
			return c, errors.Join(ErrForm, err)
		}
	}
	if at >= len(list.Rules) || at < End {
		return c, ErrForm
	}
	insert := c.insert
	if fromPacks(list) {
		insert = c.intoOwn
	}
	if err := insert(list, rule, at); err != nil {
		return c, err
	}
	return c, c.find(rule, at)
}

// own is the name of the tool's own table.
const own = ""

// list returns the list that applies to the tool, nil if there is none, and its table.
func (c *Change) list() (list *syntax.RuleList, table string, err error) {
	file, mistakes := parser.Parse(kinds.Table(), c.Name, c.Text)
	if file == nil || mistakes.HasErrors() {
		return nil, "", fmt.Errorf("%s has mistakes: %w", c.Name, mistakes.Err())
	}
	for _, t := range file.TablesFor(string(c.Tool)) {
		switch {
		case t.Run == nil:
		case t.Named(string(c.Tool)):
			return t.Run, own, nil
		default:
			return t.Run, t.Name, nil
		}
	}
	return nil, "*", nil
}

// copyList adds a list of the tool's own: a copy of the one that applies.
func (c *Change) copyList(list *syntax.RuleList, table string) {
	value := `"ask"`
	if list != nil {
		packs := fromPacks(list)
		if !packs {
			value = string(c.Text[list.Pos.Start.Offset:list.Pos.End.Offset])
		}
		if packs || c.tables(list) {
			value = "[\n"
			for _, r := range list.Rules {
				value += "  { " + r.Text() + " },\n"
			}
			value += "]"
		}
	}
	c.Text = fmt.Appendf(bytes.Clone(c.Text), "\n# A copy of the list of [tools.%s.policy], with one rule more.\n[tools.%s.policy]\nrun = %s\n",
		tomltree.Key(table), tomltree.Key(string(c.Tool)), value)
}

// find sets Line, and checks the position of the rule.
func (c *Change) find(rule string, at int) error {
	list, table, err := c.list()
	if err != nil || table != own {
		return errors.Join(ErrForm, err)
	}
	added, err := rulesOf(rule)
	if err != nil {
		return err
	}
	if at == End {
		at = len(list.Rules) - len(added)
	}
	if fromPacks(list) {
		return c.findOwn(list, added)
	}
	for i, r := range added {
		if at+i >= len(list.Rules) || list.Rules[at+i].Text() != r.Text() {
			return ErrForm
		}
	}
	c.Line = list.Rules[at].Pos.Start.Line
	return nil
}

// rulesOf parses the rules that are added.
func rulesOf(text string) ([]*syntax.Rule, error) {
	probe, mistakes := parser.Parse(kinds.Table(), "rule", []byte("version = 1\n[tools.x.policy]\nrun = ["+text+"]\n"))
	if probe == nil || mistakes.HasErrors() {
		return nil, fmt.Errorf("the rule has mistakes: %w", mistakes.Err())
	}
	return probe.Tools[0].Run.Rules, nil
}
