package syntax

import (
	"iter"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// EveryTool is the name of the table that speaks for every tool without its own
// (D25-01, D25-04).
const EveryTool = "*"

// IsGlob reports whether a table's name is a glob, and not the name of one tool. One with
// escapes is a glob, also if it matches one name only: that name is not what is written.
func IsGlob(name string) bool { return strings.ContainsAny(name, `*?[]{}\`) }

// literalPrefix is the part of a well-formed glob that decides which of two globs
// is nearer (K0b).
func literalPrefix(text string) string {
	name, _ := glob.ParseName(text)
	prefix, _ := name.LiteralPrefix()
	return prefix
}

// TablesFor lists the tables that speak for a tool, the nearest first: that of its
// name, then globs by the length of their literal beginning, then "*" (K0b). The first
// that says something about a matter is the one that counts (D25-04).
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

// Named reports whether a table is the tool's own: it has its name or gives it.
func (t *ToolTable) Named(tool string) bool { return t.Name == tool || slices.Contains(t.Also, tool) }

// DeclaredSchema is the schema of the nearest table that declares one, nil if none does. A
// table for many tools declares nothing: its parameters annotate those that the tool has,
// as base says.
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

// Environment is the directories that the file's paths are read against: those it names
// itself, and of the others those in env (K19).
func (f *File) Environment(env match.Env) match.Env {
	if f.Paths.Root != "" {
		env.Root = f.Paths.Root
	}
	if f.Paths.Home != "" {
		env.Home = f.Paths.Home
	}
	return env
}

// Ref names the rule as one of a file.
func (r *Rule) Ref(file string) stopgate.RuleRef {
	return stopgate.RuleRef{File: file, Line: r.Pos.Start.Line, Index: r.Index, ID: r.ID}
}

// StrictestParams returns the stricter of two answers to an undeclared parameter.
func StrictestParams(a, b ParamAction) ParamAction {
	order := []ParamAction{ParamDeny, ParamAsk, ParamAllow}
	if slices.Index(order, a) <= slices.Index(order, b) {
		return a
	}
	return b
}

// MatchesAny reports whether a name matches one of some globs, as they stand in `when`,
// `tools` and `from`. What is no glob matches nothing.
func MatchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(text string) bool {
		n, err := glob.ParseName(text)
		return err == nil && n.Match(name)
	})
}

// Rules lists all rules of the file: guards first, then the tables in file order.
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

// OperatorOnly lists the tables and keys at the top of the file that only a file of the
// operator may have (S3); none for a policy that was not read from a text. A table [gate]
// that only tightens is none of them.
func (f *File) OperatorOnly() []*tomltree.Entry {
	if f.source == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.source.Root.Entries), func(e *tomltree.Entry) bool {
		return slices.Contains(untrusted, e.Key) || e.Key == "gate" && f.Gate.tightens()
	})
}

// tightens reports that a table [gate] holds nothing but what is as strict as it can be, and
// structured_output, which means nothing in a file that nobody trusts.
func (g *GateSettings) tightens() bool {
	strictest := map[string]bool{
		"strict": g.Strict, "unknown_tool": g.UnknownTool == stopgate.Deny,
		"structured_output": true,
		"unknown_params":    g.UnknownParams == ParamDeny, "uncovered": g.Uncovered == ParamDeny, "on_schema_violation": g.OnSchemaViolation == stopgate.Deny,
	}
	return g.written != nil && !slices.ContainsFunc(g.written.Entries, func(e *tomltree.Entry) bool { return !strictest[e.Key] })
}

// Present reports whether the file has a table [gate] at all.
func (g *GateSettings) Present() bool { return g.written != nil }

// Says reports whether the table [gate] has a key, so that its setting is no default.
func (g *GateSettings) Says(key string) bool { return g.written.Get(key) != nil }

// List returns the rules of a kind that the table has, nil if it says nothing. Guards are
// in no table.
func (t *ToolTable) List(kind ListKind) *RuleList {
	switch kind {
	case RunList:
		return t.Run
	case ResultList:
		return t.Result
	}
	return nil
}
