package diff

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
)

// comparedTool is a tool, or one that represents all tools of a kind.
type comparedTool struct {
	name       stopgate.ToolName
	definition *stopgate.ToolDefinition
}

// tools lists the compared tools: every tool that either file or a definition names,
// and for each glob a tool that no other table names better.
func (c *comparer) tools() []*comparedTool {
	var list []*comparedTool
	seen := make(map[stopgate.ToolName]bool)
	add := func(name stopgate.ToolName, d *stopgate.ToolDefinition) {
		if !seen[name] {
			seen[name] = true
			list = append(list, &comparedTool{name, d})
		}
	}
	for i := range c.options.Definitions {
		add(c.options.Definitions[i].Name, &c.options.Definitions[i])
	}
	var names []string
	var globs []string
	for _, p := range []*policy.Program{c.before, c.after} {
		for _, t := range fileOf(p).Tools {
			for _, name := range append([]string{t.Name}, t.Also...) {
				switch {
				case name == syntax.EveryTool:
				case syntax.IsGlob(name):
					globs = append(globs, name)
				default:
					names = append(names, name)
				}
			}
		}
	}
	for _, name := range names {
		add(stopgate.ToolName(name), nil)
	}
	for _, group := range groups(globs) {
		if name, ok := c.fresh(group, globs, names); ok {
			add(stopgate.ToolName(name), nil)
		}
	}
	if name, ok := c.fresh(nil, globs, names); ok { // tools of the table "*" only, or of none
		add(stopgate.ToolName(name), &stopgate.ToolDefinition{Name: stopgate.ToolName(name)})
	}
	return list
}

// groups lists each glob alone, and with each other one: a tool may be in several.
func groups(globs []string) [][]string {
	globs = slices.Compact(slices.Sorted(slices.Values(globs)))
	var list [][]string
	for i, g := range globs {
		list = append(list, []string{g})
		for _, other := range globs[i+1:] {
			list = append(list, []string{g, other})
		}
	}
	const most = 2000
	return list[:min(len(list), most)]
}

// fresh finds a tool name that only the given globs match.
func (c *comparer) fresh(in, globs, names []string) (string, bool) {
	taken := automaton.New()
	for _, text := range names {
		taken.Accept(taken.Text(0, text))
	}
	var inside, outside []automaton.Walker
	if any, err := glob.ParseName("?*"); err == nil {
		inside = append(inside, any.Walker()) // a search needs at least one language of names
	}
	if a := taken.Compile().DFA(); a != nil {
		outside = append(outside, a)
	}
	for _, g := range slices.Compact(slices.Sorted(slices.Values(globs))) {
		n, err := glob.ParseName(g)
		if err != nil || n.Walker() == nil {
			return "", false
		}
		if slices.Contains(in, g) {
			inside = append(inside, n.Walker())
		} else {
			outside = append(outside, n.Walker())
		}
	}
	name, answer := analysis.Find(inside, outside, func(text string) bool { return stopgate.ValidToolName(stopgate.ToolName(text)) })
	return name, answer == regular.Yes
}

// newTool reports a tool that only one of the files knows. A call without arguments
// shows it, or a witness of the side that knows it is not needed: the other side
// answers before it looks at any.
func (c *comparer) newTool(tool *comparedTool, before, after *sidePolicy) {
	known := after
	if before.known {
		known = before
	}
	b, ok := c.bind(known, tool, syntax.RunList)
	if !ok {
		c.open(tool, "the rules do not fit the tool's schema")
		return
	}
	t := symbolic.New(known.Env, known.Schema)
	t.Welcome = symbolic.Unprotected(known.Protected)
	p := policyOf(t, b)
	unknown := stopgate.Deny
	other := c.before
	if before.known {
		other = c.after
	}
	if fileOf(other).Gate.UnknownTool == stopgate.Ask {
		unknown = stopgate.Ask
	}
	nothing := &analysis.Policy{End: int(unknown)}
	confirm := func(cell analysis.Cell) bool {
		bound := [2]*boundPolicy{{file: fileOf(c.before).Name}, b}
		if before.known {
			bound = [2]*boundPolicy{b, {file: fileOf(c.after).Name}}
			cell.Old, cell.New = cell.New, cell.Old
		}
		change, ok := c.confirm(tool, syntax.RunList, t, cell, bound)
		if !ok {
			return true
		}
		change.Note = "tool unknown before"
		change.Old = nil
		if before.known {
			change.Note, change.Old, change.New = "tool unknown now", bound[0].place(cell.Old), nil
		}
		c.add(change)
		return false
	}
	complete := analysis.Compare(t.Space(), nothing, p, analysis.Budget{}, confirm).Complete
	if complete && !b.commands || unknown == stopgate.Deny && len(c.class.changes) > 0 {
		return // all that changes is in one direction, which a call shows
	}
	c.open(tool, "not every rule was compared with what becomes of unknown tools")
}

// settings reports settings that change verdicts independently of rules.
func (c *comparer) settings() {
	old, new := fileOf(c.before), fileOf(c.after)
	differs := func(key, from, to string) {
		if from != to {
			c.out.Complete = false
			c.out.Open = append(c.out.Open, "`"+key+"` changes from "+from+" to "+to+", which no pair of rules shows")
		}
	}
	differs("gate.enforcement", or(old.Gate.Enforcement, "enforce"), or(new.Gate.Enforcement, "enforce"))
	c.structuredOutput()
	differs("paths.root", or(old.Paths.Root, "unknown"), or(new.Paths.Root, "unknown"))
	differs("paths.home", or(old.Paths.Home, "unknown"), or(new.Paths.Home, "unknown"))
	c.sessions(old.Sessions, new.Sessions)
	c.sources(old, new)
	c.externals(old.Externals, new.Externals)
	if !slices.Equal(otherDeclarations(old), otherDeclarations(new)) {
		c.out.Complete = false
		c.out.Open = append(c.out.Open, "handoffs, the judge, the access of tools or what counts as success change, which are not compared")
	}
}

// otherDeclarations returns the declarations of a file. Of its session policies, which depend
// on the success of calls, it includes only whether there are any.
func otherDeclarations(f *syntax.File) []string {
	plain := *f
	plain.Sessions, plain.Externals = []*syntax.SessionPolicy{{}}, nil
	texts := f.FlowDeclarations()
	return slices.DeleteFunc(plain.Declarations(), func(d string) bool { return slices.Contains(texts, d) })
}

// externals notes external policies, whose answers no comparison knows.
func (c *comparer) externals(old, new []*syntax.External) {
	find := func(list []*syntax.External, name string) *syntax.External {
		for _, e := range list {
			if e.Name == name {
				return e
			}
		}
		return nil
	}
	note := func(name, what string) {
		c.out.Complete = false
		c.out.Open = append(c.out.Open, "the external policy `"+name+"` "+what)
	}
	for _, e := range old {
		switch now := find(new, e.Name); {
		case now == nil:
			note(e.Name, "is removed: it decides about no call any more")
		case now.Meaning() != e.Meaning():
			note(e.Name, "changes, which no pair of rules shows")
		}
	}
	for _, e := range new {
		if find(old, e.Name) == nil {
			note(e.Name, "is added: it decides about calls, which no pair of rules shows")
		}
	}
}

// sources notes declarations that decide about the origin of values: conditions on sources are
// compared as if every source had the same texts before and after.
func (c *comparer) sources(old, new *syntax.File) {
	note := func(subject string) {
		c.out.Complete = false
		c.out.Open = append(c.out.Open, subject+" changes, which no pair of rules shows")
	}
	other := func(f *syntax.File, s *syntax.SourceTable) bool {
		t := f.SourceNamed(s.Name)
		return t == nil || t.Meaning() != s.Meaning()
	}
	for _, s := range old.Sources {
		if other(new, s) {
			note("`sources." + string(s.Name) + "`")
		}
	}
	for _, s := range new.Sources {
		if old.SourceNamed(s.Name) == nil {
			note("`sources." + string(s.Name) + "`")
		}
	}
	settings := func(f *syntax.File) []string {
		return slices.DeleteFunc(f.FlowDeclarations(), func(d string) bool { return strings.HasPrefix(d, "source ") })
	}
	if !slices.Equal(settings(old), settings(new)) {
		note("the effect of a tool or `flow`")
	}
}

// structuredOutput compares the verdicts for a tool of structured output that no table names.
func (c *comparer) structuredOutput() {
	call := stopgate.Call{Tool: "final_result", Surface: stopgate.SurfaceGateway, Definition: &stopgate.ToolDefinition{Strict: true}, Args: []byte("{}")}
	mode := func(s *policy.Program) stopgate.Mode {
		if fileOf(s).Gate.StructuredOutput == stopgate.Unattended {
			return stopgate.Unattended
		}
		return c.verdict(s, call, noTexts, syntax.RunList).Mode
	}
	if fileOf(c.before).Gate.StructuredOutput == fileOf(c.after).Gate.StructuredOutput {
		return
	}
	if from, to := mode(c.before), mode(c.after); from != to {
		c.out.Changes = append(c.out.Changes, Change{Tool: call.Tool, Tools: []stopgate.ToolName{call.Tool}, Edit: unpaired, List: syntax.RunList.String(), From: from, To: to, Direction: directionOf(from, to), Witness: call, Note: "structured output"})
	}
}

// unknownTool compares the verdicts on a tool that neither file knows.
func (c *comparer) unknownTool(tool *comparedTool) {
	call := stopgate.Call{Tool: tool.name, Definition: tool.definition, Args: []byte("{}")}
	from, to := c.verdict(c.before, call, noTexts, syntax.RunList).Mode, c.verdict(c.after, call, noTexts, syntax.RunList).Mode
	if from != to {
		c.add(Change{Tool: tool.name, Tools: []stopgate.ToolName{tool.name}, Edit: unpaired, List: syntax.RunList.String(), From: from, To: to, Direction: directionOf(from, to), Witness: call, Note: "unknown tool"})
	}
}

// runsCommands reports a tool with a parameter that is a command line or a patch, whose values
// name the files that they touch.
func runsCommands(s *schema.Schema) bool {
	for _, place := range s.All() {
		if place.Seen()&schema.String != 0 && (place.Runs() || place.HasWithin(schema.Patch)) {
			return true
		}
	}
	return false
}
