package check

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/schema"
)

// tools checks every rule list against every tool that it applies to.
func (c *checker) tools() {
	described := make(map[*syntax.ToolTable]bool)
	for i := range c.options.Definitions {
		d := &c.options.Definitions[i]
		tables := c.File.TablesFor(string(d.Name))
		if len(tables) == 0 {
			continue
		}
		for _, t := range tables {
			described[t] = true
		}
		c.known = append(c.known, &bind.Tool{
			Name: string(d.Name), Tables: tables, Schema: c.definition(d, tables), Pos: tables[0].Pos,
		})
	}
	for _, t := range c.File.Tools {
		if described[t] || syntax.IsGlob(t.Name) {
			continue
		}
		tables := c.File.TablesFor(t.Name)
		c.known = append(c.known, &bind.Tool{Name: t.Name, Tables: tables, Schema: syntax.DeclaredSchema(tables, t.Name, nil), Pos: t.Pos})
	}
	judged := make(map[*syntax.RuleList]bool)
	for _, tool := range c.known {
		for _, kind := range []syntax.ListKind{syntax.RunList, syntax.ResultList} {
			if l := listOf(tool, kind); l != nil {
				judged[l.RuleList] = true
				c.list(l)
				c.schemaKnown(l)
			}
		}
		c.GuardsFit(tool)
		c.pathSeen(tool)
	}
	// Lists that no known tool uses are checked against the declarations of their own
	// table; those of globs also without a tool, because they may apply to unknown tools.
	for _, t := range c.File.Tools {
		for kind, l := range []*syntax.RuleList{t.Run, t.Result} {
			if l == nil || judged[l] && !syntax.IsGlob(t.Name) {
				continue
			}
			tool := &bind.Tool{Tables: []*syntax.ToolTable{t}, Pos: t.Pos}
			if !judged[l] {
				tool.Schema = t.Schema
			}
			view := &List{List: bind.List{RuleList: l, Kind: syntax.ListKind(kind), Owner: t, Shared: syntax.IsGlob(t.Name), Tool: tool}}
			c.list(view)
			if !judged[l] {
				c.schemaKnown(view)
			}
		}
	}
}

// listOf finds the rules that speak for a tool: those of the nearest table that has
// any (D25-04).
func listOf(t *bind.Tool, kind syntax.ListKind) *List {
	for _, table := range t.Tables {
		if l := table.List(kind); l != nil {
			return &List{List: bind.List{RuleList: l, Kind: kind, Owner: table, Shared: syntax.IsGlob(table.Name), Tool: t}}
		}
	}
	return nil
}

// definition reads the schema that a tool comes with and lays the file's over it
// (K25).
func (c *checker) definition(d *stopgate.ToolDefinition, tables []*syntax.ToolTable) *schema.Schema {
	at := tables[0].Pos
	if len(d.Schema) == 0 {
		return syntax.DeclaredSchema(tables, string(d.Name), nil)
	}
	base, notes, err := schema.ParseJSON(d.Schema)
	if err != nil {
		c.Report(diag.BadDefinition, at, fmt.Sprintf("the definition of `%s` cannot be read: %v", d.Name, err), "")
		return syntax.DeclaredSchema(tables, string(d.Name), nil)
	}
	for _, n := range notes {
		c.Report(diag.SchemaKeyword, at, fmt.Sprintf("the schema of `%s` uses `%s` at %s: %s", d.Name, n.Keyword, cmp.Or(n.Pointer, "its root"), n.Message), "")
	}
	both, err := schema.Overlay(base, syntax.DeclaredSchema(tables, string(d.Name), base))
	if err != nil {
		var clash *schema.OverlayError
		message := err.Error()
		if errors.As(err, &clash) {
			message = "`" + clash.Pointer + "` " + clash.Message
		}
		c.Report(diag.BadDefinition, at, fmt.Sprintf("the parameters in this file contradict the definition of `%s`: %s", d.Name, message), "")
		return base
	}
	return both
}

// schemaKnown warns about conditions on a tool without a known schema, which could not be
// checked (K24).
func (c *checker) schemaKnown(l *List) {
	if l.Tool.Schema != nil || l.Owner.Name == syntax.EveryTool {
		return
	}
	for _, r := range l.Rules {
		if len(r.Conditions) > 0 {
			name := tomltree.Key(l.Owner.Name)
			c.Report(diag.SchemaUnknown, l.Owner.Pos, "no parameters are known of `"+name+"`, so its rules were not checked against them",
				"add `[tools."+name+".parameters]`, or run `stopgate check --tools TOOLS.json`")
			return
		}
	}
}

// defaults reports rules of "*" that do not apply to tools with a list of their own (K57).
func (c *checker) defaults() {
	for _, table := range c.File.Tools {
		if table.Name != syntax.EveryTool || table.Run == nil {
			continue
		}
		var own []string
		var related []diag.Related
		for _, t := range c.File.Tools {
			if t != table && t.Run != nil {
				own = append(own, t.Name)
				related = append(related, diag.Related{Range: t.Pos, Message: "this table has its own list"})
			}
		}
		if len(own) == 0 {
			continue
		}
		for _, r := range table.Run.Rules {
			if r.Mode.Permissive() || len(r.Conditions) == 0 {
				continue
			}
			c.Report(diag.DefaultsReplaced, r.Pos,
				fmt.Sprintf("%s of `\"*\"` does not apply to tools with a list of their own: %s", r.Label(), some(own)),
				"for every tool, beside its list:\n"+guardText(r), related[:min(len(related), 3)]...)
		}
	}
}

// some lists names for a message, not all of very many.
func some(names []string) string {
	const limit = 4
	if len(names) <= limit {
		return diag.Words(names)
	}
	return fmt.Sprintf("%s and %d more", diag.Words(names[:limit]), len(names)-limit)
}

// guardText writes a rule as a guard, to be pasted.
func guardText(r *syntax.Rule) string {
	lines := []string{"  [[guard]]"}
	for _, p := range r.Lines() {
		lines = append(lines, "  "+p)
	}
	return strings.Join(lines, "\n")
}
