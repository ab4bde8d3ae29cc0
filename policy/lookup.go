package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/tomltree"
	"github.com/stopgate/stopgate/policy/match"
)

// defaults is the name of the table that speaks for every tool without its own
// (D25-01, D25-04).
const defaults = "*"

// isGlob reports whether a name is not only itself.
func isGlob(name string) bool { return strings.ContainsAny(name, `*?[]{}\`) }

// literalPrefix is the part of a well-formed glob that decides which of two globs
// is nearer (K0b).
func literalPrefix(glob string) string {
	name, _ := match.ParseName(glob)
	prefix, _ := name.LiteralPrefix()
	return prefix
}

// tablesFor lists the tables that apply to a tool, the most specific first: its
// name, then globs by the length of their literal prefix, then "*" (K0b).
func (p *Policy) tablesFor(tool string) []*ToolTable {
	type candidate struct {
		table *ToolTable
		rank  int
	}
	var found []candidate
	for _, t := range p.Tools {
		if t.named(tool) {
			found = append(found, candidate{t, stopgate.MaxToolName + 1})
			continue
		}
		name, err := match.ParseName(t.Name)
		if err == nil && name.Match(tool) {
			prefix, _ := name.LiteralPrefix()
			found = append(found, candidate{t, len(prefix)})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.rank - a.rank })
	tables := make([]*ToolTable, len(found))
	for i, f := range found {
		tables[i] = f.table
	}
	return tables
}

// named reports whether a table is the tool's own.
func (t *ToolTable) named(tool string) bool { return t.Name == tool || slices.Contains(t.Also, tool) }

// matchesAny reports whether a name matches one of some globs.
func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		n, err := match.ParseName(glob)
		return err == nil && n.Match(name)
	})
}

// rules lists all rules of the file: guards first, then the tables in file order.
func (p *Policy) rules() iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		lists := [][]*Rule{p.Guards}
		for _, t := range p.Tools {
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

// operatorOnly lists the tables and keys at the top of the file that only a file of the
// operator may have (S3); none for a policy that was not read from a text.
func (p *Policy) operatorOnly() []*tomltree.Entry {
	if p.source == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.source.Root.Entries), func(e *tomltree.Entry) bool { return slices.Contains(untrusted, e.Key) })
}

// present reports whether the file has a table [gate] at all.
func (g *GateSettings) present() bool { return g.written != nil }

// says reports whether the table [gate] has a key, so that its setting is no default.
func (g *GateSettings) says(key string) bool { return g.written.Get(key) != nil }

// list returns the rules of a kind that the table has, nil if it says nothing. Guards are
// in no table.
func (t *ToolTable) list(kind listKind) *RuleList {
	switch kind {
	case runRules:
		return t.Run
	case resultRules:
		return t.Result
	}
	return nil
}
