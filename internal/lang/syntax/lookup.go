package syntax

import (
	"iter"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
)

// EveryTool is the name of the default table, for tools without their own (D25-01, D25-04).
const EveryTool = "*"

// IsGlob reports whether the name of a table is a glob. A name with escapes is a glob, even if it
// matches one name only, because that name is not its text.
func IsGlob(name string) bool { return strings.ContainsAny(name, `*?[]{}\`) }

// LiteralPrefix returns the literal prefix of a well-formed glob. The glob with the longer one
// takes precedence (K0b).
func LiteralPrefix(text string) string {
	name, _ := glob.ParseName(text)
	prefix, _ := name.LiteralPrefix()
	return prefix
}

// TablesFor returns the tables that apply to a tool in order of precedence: the one with its name,
// then globs by the length of their literal prefix, then "*" (K0b). The first table with a setting
// applies (D25-04).
func (f *File) TablesFor(tool string) []*ToolTable {
	type candidate struct {
		table *ToolTable
		rank  int
	}
	var found []candidate
	for _, t := range f.Tools {
		if t.Named(tool) {
			found = append(found, candidate{t, stopgate.MaxToolName + 1})
			continue
		}
		name, err := glob.ParseName(t.Name)
		if err == nil && name.Match(tool) {
			prefix, _ := name.LiteralPrefix()
			found = append(found, candidate{t, len(prefix)})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.rank - a.rank })
	tables := make([]*ToolTable, len(found))
	for i, c := range found {
		tables[i] = c.table
	}
	return tables
}

// Named reports whether a table is the tool's own: its name or one of its `also` names is tool.
func (t *ToolTable) Named(tool string) bool { return t.Name == tool || slices.Contains(t.Also, tool) }

// DeclaredSchema returns the schema of the first table that declares one, nil if none does. A table
// for many tools does not declare parameters, but annotates those that the tool has according to
// base.
func DeclaredSchema(tables []*ToolTable, tool string, base *schema.Schema) *schema.Schema {
	for _, t := range tables {
		switch {
		case t.Schema == nil:
		case t.Named(tool):
			return t.Schema
		default:
			return schema.Fitting(base, t.Schema)
		}
	}
	return nil
}

// UnknownParams returns the action of a file for an undeclared parameter of a tool with some
// tables of the file, the most specific first.
func (f *File) UnknownParams(tables []*ToolTable) ParamAction {
	for _, t := range tables {
		if t.Unknown != nil {
			return *t.Unknown
		}
	}
	return f.Gate.UnknownParams
}

// Environment returns the directories that paths are matched against: those of the file, and env
// for the others (K19).
func (f *File) Environment(env condition.Env) condition.Env {
	if f.Paths.Root != "" {
		env.Root = f.Paths.Root
	}
	if f.Paths.Home != "" {
		env.Home = f.Paths.Home
	}
	return env
}

// Ref returns the reference to the rule in a file, or in a pack that the file uses.
func (r *Rule) Ref(file string) stopgate.RuleRef {
	return stopgate.RuleRef{File: r.In(file), Line: r.Pos.Start.Line, Index: r.Index, ID: r.ID}
}

// In returns the name of the text that the rule is written in: that of its pack, else file.
func (r *Rule) In(file string) string {
	if r.Pack != "" {
		return r.Pack
	}
	return file
}

// StrictestParams returns the stricter of two actions.
func StrictestParams(a, b ParamAction) ParamAction {
	order := []ParamAction{ParamDeny, ParamAsk, ParamAllow}
	if slices.Index(order, a) <= slices.Index(order, b) {
		return a
	}
	return b
}

// MatchesAny reports whether a name matches one of the globs of a `when`, `tools` or `from` key. An
// invalid glob matches no name.
func MatchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(text string) bool {
		n, err := glob.ParseName(text)
		return err == nil && n.Match(name)
	})
}

// Rules returns all rules of the file: guards first, then the tables in file order.
func (f *File) Rules() iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		lists := [][]*Rule{f.Guards}
		for _, t := range f.Tools {
			for _, l := range []*RuleList{t.Run, t.Result} {
				if l != nil {
					lists = append(lists, l.Rules)
				}
			}
		}
		for _, rules := range lists {
			for _, r := range rules {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// NamesOf returns the names of the server of a pack in this file, that of the pack first.
func (f *File) NamesOf(pack, server string) []string {
	names := []string{server}
	for _, s := range f.Servers {
		if s.Pack == pack {
			names = append(names, s.Name)
		}
	}
	return names
}

// OperatorOnly returns the top-level tables and keys that only an operator's file may have (S3),
// none for a policy that was not parsed from a text. A [gate] table that only tightens is allowed.
func (f *File) OperatorOnly() []*tomltree.Entry {
	if f.Source == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Source.Root.Entries), func(e *tomltree.Entry) bool {
		return slices.Contains(untrusted, e.Key) || e.Key == "gate" && f.Gate.tightens() || e.Key == "flow" && f.Flow.tightens()
	})
}

// tightens reports whether every key of [gate] has its strictest value. structured_output may have
// any value since it has no effect in an untrusted file.
func (g *GateSettings) tightens() bool {
	strictest := map[string]bool{
		"strict": g.Strict, "unknown_tool": g.UnknownTool == stopgate.Deny,
		"structured_output": true,
		"unknown_params":    g.UnknownParams == ParamDeny, "uncovered": g.Uncovered == ParamDeny, "on_schema_violation": g.OnSchemaViolation == stopgate.Deny,
	}
	return g.Written != nil && !slices.ContainsFunc(g.Written.Entries, func(e *tomltree.Entry) bool { return !strictest[e.Key] })
}

// Present reports whether the file has a [gate] table.
func (g *GateSettings) Present() bool { return g.Written != nil }

// IsSet reports whether the [gate] table has a key.
func (g *GateSettings) IsSet(key string) bool { return g.Written.Get(key) != nil }

// List returns the rules of a kind, nil if the table has none. Guards are in no table.
func (t *ToolTable) List(kind ListKind) *RuleList {
	switch kind {
	case RunList:
		return t.Run
	case ResultList:
		return t.Result
	}
	return nil
}

// untrusted are the tables and keys that an untrusted project file may have (S3).
var untrusted = []string{"version", "use", "tools", "conversation", "guard", "session", "handoffs", "lists", "sources", "servers"}
