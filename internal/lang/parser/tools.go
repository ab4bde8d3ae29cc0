package parser

import (
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// tools reads [tools.NAME], and [conversation.tools.NAME] as D25 spells it (K27).
func (p *parser) tools(root *tomltree.Value) {
	if e := root.Get("tools"); e != nil && p.table(e) {
		p.toolTables(e.Value)
	}
	if e := root.Get("conversation"); e != nil && p.table(e) {
		p.known(e.Value, []string{"tools"})
		if tools := e.Value.Get("tools"); tools != nil && p.table(tools) {
			p.toolTables(tools.Value)
		}
	}
	p.claims()
}

// toolTables reads the tables of a table.
func (p *parser) toolTables(t *tomltree.Value) {
	for _, e := range t.Entries {
		if !p.table(e) {
			continue
		}
		p.toolName(e.Key, e.KeyRange)
		p.policy.Tools = append(p.policy.Tools, p.toolTable(e))
	}
}

// toolName checks a name or glob that a table is written for.
func (p *reader) toolName(name string, at diag.Range) {
	if !syntax.IsGlob(name) {
		if !stopgate.ValidToolName(stopgate.ToolName(name)) {
			p.report(diag.BadName, at, "no tool can have the name "+tomltree.Quote(name),
				"names have 1 to 128 characters of A-Z a-z 0-9 _ . : -")
		}
		return
	}
	if _, err := glob.ParseName(name); err != nil {
		message := err.Error()
		var wrong *glob.Error
		if errors.As(err, &wrong) {
			message = wrong.Message
		}
		p.report(diag.BadName, at, "the glob "+tomltree.Quote(name)+" names no tools: "+message, "")
	}
}

func (p *parser) toolTable(e *tomltree.Entry) *syntax.ToolTable {
	t := e.Value
	var dotted []string // reported here
	for _, own := range t.Entries {
		if own.Value.Kind == tomltree.Table && !own.Value.Inline && !slices.Contains(toolKeys, own.Key) && diag.Suggest(own.Key, toolKeys) == "" {
			p.report(diag.UnknownKey, own.KeyRange, "unknown key `"+tomltree.Key(own.Key)+"`",
				"a tool whose name has dots needs quotes: `[tools."+tomltree.Quote(e.Key+"."+dottedName(own))+"]`")
			dotted = append(dotted, own.Key)
		}
	}
	p.known(t, toolKeys, dotted)
	table := &syntax.ToolTable{Name: e.Key, Pos: e.KeyRange}
	table.Success = p.success(t.Get("success"))
	table.Access = p.access(t)
	table.Source, _ = p.word(t.Get("source"), "local", "mcp", "builtin", "remote")
	for _, v := range p.texts(t.Get("also")) {
		if !stopgate.ValidToolName(stopgate.ToolName(v.Text)) {
			p.report(diag.BadName, v.Range, "no tool can have the name "+tomltree.Quote(v.Text), "")
			continue
		}
		table.Also = append(table.Also, v.Text)
		table.AlsoAt = append(table.AlsoAt, v)
	}
	if len(table.Also) > 0 && syntax.IsGlob(table.Name) {
		p.report(diag.BadName, t.Get("also").KeyRange, "`also` gives further names to one tool, not to a glob", "write a table for it")
	}
	for _, key := range []string{"summary", "description"} {
		if about, ok := p.text(t.Get(key)); ok {
			table.About = strings.TrimPrefix(table.About+"\n\n"+about, "\n\n")
		}
	}
	p.localCommand(t, table)
	if effect := t.Get("effect"); effect != nil {
		set := p.flag(effect)
		table.Effect = &set
	}
	table.Unknown = p.paramAction(t.Get("unknown_params"))
	table.Uncovered = p.paramAction(t.Get("uncovered"))
	if violation := t.Get("on_schema_violation"); violation != nil {
		mode := p.denyOrAsk(violation)
		table.OnSchema = &mode
	}
	if params := t.Get("parameters"); params != nil && p.table(params) {
		table.Schema = p.parameters(params.Value)
	}
	p.policyTable(t, table)
	return table
}

// localCommand reads the command that the terminal agent runs for a tool. dottedName returns the
// rest of a tool's name that TOML parsed as nested tables.
func dottedName(e *tomltree.Entry) string {
	name := e.Key
	for v := e.Value; len(v.Entries) == 1; {
		e = v.Entries[0]
		if v = e.Value; v.Kind != tomltree.Table || slices.Contains(toolKeys, e.Key) {
			break
		}
		name += "." + e.Key
	}
	return name
}

func (p *parser) localCommand(t *tomltree.Value, table *syntax.ToolTable) {
	e := t.Get("command")
	if e == nil {
		return
	}
	for _, v := range p.texts(e) {
		table.Command = append(table.Command, v.Text)
	}
	switch {
	case e.Value.Kind == tomltree.String:
		p.report(diag.WrongType, e.Value.Range, "`command` is the program and its arguments, each a string of an array",
			"no shell takes it apart: write [\"program\", \"argument\"]")
	case table.Source != "local":
		p.report(diag.BadValue, e.KeyRange, "only a tool with `source = \"local\"` has a command", "write source = \"local\" beside it")
	case syntax.IsGlob(table.Name):
		p.report(diag.BadName, e.KeyRange, "a command belongs to one tool, not to a glob", "write a table for it")
	case len(table.Command) > 0 && table.Command[0] == "":
		p.report(diag.BadValue, e.Value.Range, "the program of the command has no name", "")
	}
}

// policyTable reads run and result, from the policy table or next to it. The policy table takes
// precedence (D25-02, D25-03).
func (p *parser) policyTable(t *tomltree.Value, table *syntax.ToolTable) {
	var inner *tomltree.Value
	if e := t.Get("policy"); e != nil && p.table(e) {
		inner = e.Value
		p.known(inner, policyKeys)
	}
	list := func(key string, kind syntax.ListKind) *syntax.RuleList {
		outside, inside := t.Get(key), inner.Get(key)
		if outside != nil {
			p.old(outside.KeyRange, "`"+key+"` beside `policy` is the old spelling", "write `policy."+key+"`")
		}
		if inside == nil {
			return p.ruleList(outside, kind)
		}
		if outside != nil {
			p.report(diag.AliasIgnored, outside.KeyRange, "this `"+key+"` is ignored: `policy."+key+"` is written too", "remove one of them",
				diag.Related{Range: inside.KeyRange, Message: "this one counts"})
		}
		return p.ruleList(inside, kind)
	}
	table.Run = list("run", syntax.RunList)
	table.Result = list("result", syntax.ResultList)
	for _, l := range []struct {
		list *syntax.RuleList
		name string
	}{{table.Run, "run"}, {table.Result, "result"}} {
		if l.list == nil {
			continue
		}
		for _, r := range l.list.Rules {
			r.Identify(table.Name, l.name)
		}
	}
}

// claims reports tools that two tables match with equal precedence (K0b, K27, S39).
func (p *parser) claims() {
	first := make(map[string]diag.Range)
	claim := func(name string, at diag.Range) {
		if before, taken := first[name]; taken {
			p.report(diag.ToolTwice, at, "two tables claim the tool "+tomltree.Quote(name), "merge them",
				diag.Related{Range: before, Message: "the other one is here"})
			return
		}
		first[name] = at
	}
	var globs []*syntax.ToolTable
	for _, t := range p.policy.Tools {
		claim(t.Name, t.Pos)
		for i, name := range t.Also {
			claim(name, t.AlsoAt[i].Range)
		}
		if _, err := glob.ParseName(t.Name); err == nil && syntax.IsGlob(t.Name) && t.Name != syntax.EveryTool {
			globs = append(globs, t)
		}
	}
	near := make(map[string][]*syntax.ToolTable) // globs with the same literal prefix
	budget := 10_000
	for _, t := range globs {
		prefix := syntax.LiteralPrefix(t.Name)
		others := near[prefix]
		near[prefix] = append(others, t)
		for _, other := range others {
			if t.Name == other.Name {
				continue
			}
			name, meet, done := syntax.NamesIntersect(other.Name, t.Name, &budget)
			if !done {
				p.report(diag.TooLarge, t.Pos, "too many globs with wildcards begin alike to tell them apart", "give them longer beginnings without wildcards")
				return
			}
			if meet {
				p.report(diag.ToolTwice, t.Pos,
					"the globs "+tomltree.Quote(other.Name)+" and "+tomltree.Quote(t.Name)+" claim tools like "+tomltree.Quote(name)+" with equal right",
					"give one of them a longer beginning without wildcards, or write a table for that tool",
					diag.Related{Range: other.Pos, Message: "the other glob is here"})
			}
		}
	}
}
