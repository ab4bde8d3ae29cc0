// Package amend adds a rule to the text of a policy file: the rule that makes calls of
// one tool run which are asked about now, and nothing else.
//
//	c, err := amend.Before("stopgate.toml", text, "fs_create_file", `{ arg = "/path", const = "a", mode = "unattended" }`, 2)
//	if err == nil {
//		err = c.Prove(definition)
//	}
//	os.WriteFile(path, c.Text, 0o600)
//
// What it promises: comments, order and layout of everything else stay byte for byte;
// the rule stands directly before the one that asks, so that what decides before it
// still does (D25-09). A list that other tools share is not changed: the tool gets a
// copy of it, with the rule in it, because a list of its own replaces the shared one
// (D25-04). Prove compares both files as `stopgate diff` does: it fails unless every
// difference is a call of this tool that was asked and runs now, through this rule.
package amend

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Change is a file with one more rule.
type Change struct {
	Name         string // of the file, as messages call it
	Before, Text []byte
	Tool         stopgate.ToolName
	Line         int // on which the rule begins
	// Copied is the table whose list the tool has got a copy of, "" if the list was its
	// own.
	Copied string
}

// ErrForm says that a file is written in a form that is not changed here.
var ErrForm = errors.New("the file is written in a form that only a person should change")

// End as a place puts the rule behind all others: nothing matched.
const End = -1

// Before adds a rule to the list that holds for a tool, before the rule of an index, or
// at the End. The rule is an inline table.
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
		c.give(list, table)
		c.Copied = table
		if list, table, err = c.list(); err != nil || table != own {
			return c, errors.Join(ErrForm, err)
		}
	}
	if at >= len(list.Rules) || at < End {
		return c, ErrForm
	}
	if err := c.insert(list, rule, at); err != nil {
		return c, err
	}
	return c, c.find(rule, at)
}

// own is the name of the table that is the tool's own.
const own = ""

// list is what holds for the tool, nil if nothing does, and the table that has it.
func (c *Change) list() (list *syntax.RuleList, table string, err error) {
	file, mistakes := syntax.Parse(c.Name, c.Text)
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

// give gives the tool a list of its own: a copy of the one that holds.
func (c *Change) give(list *syntax.RuleList, table string) {
	value := `"ask"`
	if list != nil {
		value = string(c.Text[list.Pos.Start.Offset:list.Pos.End.Offset])
		if c.tables(list) {
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

// find sets Line, and checks that the rule stands where it should.
func (c *Change) find(rule string, at int) error {
	list, table, err := c.list()
	if err != nil || table != own {
		return errors.Join(ErrForm, err)
	}
	if at == End {
		at = len(list.Rules) - 1
	}
	probe, mistakes := syntax.Parse("rule", []byte("version = 1\n[tools.x.policy]\nrun = ["+rule+"]\n"))
	if probe == nil || mistakes.HasErrors() {
		return fmt.Errorf("the rule has mistakes: %w", mistakes.Err())
	}
	if at >= len(list.Rules) || list.Rules[at].Text() != probe.Tools[0].Run.Rules[0].Text() {
		return ErrForm
	}
	c.Line = list.Rules[at].Pos.Start.Line
	return nil
}
